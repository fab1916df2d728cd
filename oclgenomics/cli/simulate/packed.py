"""Outputs that are packed if their names say so."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING

from oclgenomics.cli.output import atomic_output

if TYPE_CHECKING:
    from oclgenomics.variation.writers import Sink

__all__ = ["opened"]


@contextmanager
def opened(name: str) -> Iterator[Sink]:
    """Open an output that is there whole or not at all; blocked gzip if its name ends in .gz."""
    from oclgenomics.variation.writers import Bgzf

    with atomic_output(name, "wb") as stream:
        if not name.endswith(".gz"):
            yield stream
            return
        packed = Bgzf(stream)
        yield packed
        packed.finish()
