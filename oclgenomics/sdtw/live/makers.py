"""How the aligner of a selection comes to be: in the thread that uses it."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator, Sequence

from oclgenomics.runtime import Device, Engine, lent_engine
from oclgenomics.sdtw.found import PrefixAligner
from oclgenomics.sdtw.live.worker import MakeAligner
from oclgenomics.sdtw.options import AlignOptions
from oclgenomics.sdtw.squiggles.squiggle import Squiggle

__all__ = ["given_aligner", "own_aligner"]


def given_aligner(aligner: PrefixAligner) -> MakeAligner:
    """Return a maker of an aligner that is there."""
    return lambda: contextlib.nullcontext(aligner)


def own_aligner(
    references: Sequence[Squiggle],
    options: AlignOptions,
    engine: Engine | None,
    device: Device | str | None,
    max_memory: int | None,
) -> MakeAligner:
    """Return a maker of an aligner on a device; see `lent_engine`."""

    @contextlib.contextmanager
    def make() -> Iterator[PrefixAligner]:
        from oclgenomics.sdtw.device.aligner import Aligner

        with lent_engine(engine, device, max_memory) as lent:
            yield Aligner(lent, references, options)

    return make
