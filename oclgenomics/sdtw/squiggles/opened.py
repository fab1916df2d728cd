"""References that verbs are given, as they are or in files, opened and seen to go together."""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Iterable, Sequence

from oclgenomics.errors import ParameterError
from oclgenomics.sdtw.formats.squiggle import read_squiggle
from oclgenomics.sdtw.options import AlignOptions
from oclgenomics.sdtw.squiggles.squiggle import Squiggle
from oclgenomics.signals.sequencing import Sequencing

References = Squiggle | str | os.PathLike[str] | Iterable[Squiggle | str | os.PathLike[str]]


def open_references(references: References, parameter: str = "references") -> tuple[Squiggle, ...]:
    """Return references, those of files read.

    Parameters
    ----------
    references : Squiggle, path, or iterable of either
    parameter : str
        What the caller knows them as, for the error message.

    Raises
    ------
    ParameterError
        There is none, two have one name, or DNA and RNA or several pores are mixed.
    InputError
        See `read_squiggle`.
    """
    given = [references] if isinstance(references, (Squiggle, str, os.PathLike)) else references
    opened = tuple(one if isinstance(one, Squiggle) else read_squiggle(one) for one in given)
    if not opened:
        raise ParameterError(parameter, "must not be empty")
    _check_together(opened, parameter)
    return opened


def open_targets(targets: References, decoys: References) -> tuple[tuple[Squiggle, ...], tuple[Squiggle, ...]]:
    """Return targets, at least one, and decoys, those of files read; see `open_references` for errors."""
    first = open_references(targets, "targets")
    given = [decoys] if isinstance(decoys, (Squiggle, str, os.PathLike)) else list(decoys)
    others = open_references(given, "decoys") if given else ()
    _check_together(first + others, "decoys")
    return first, others


def sequencing_for(references: Sequence[Squiggle]) -> Sequencing | None:
    """Return how molecules go through the pore that references are for; None if none of them says it."""
    return next((one.sequencing for one in references if one.sequencing is not None), None)


def options_for(options: AlignOptions, references: Sequence[Squiggle]) -> AlignOptions:
    """Return options of alignments with the step that suits the pore of references, where none was chosen."""
    known = sequencing_for(references)
    return options if known is None else options.with_step(known.step)


def _check_together(references: Sequence[Squiggle], parameter: str) -> None:
    """Refuse references that results could not tell apart, or that no read could belong to both of."""
    name, times = Counter(one.name for one in references).most_common(1)[0]
    if times > 1:
        raise ParameterError(parameter, f"must differ in name; {times} of them have the name {name}")
    if len({one.molecule for one in references}) > 1:
        raise ParameterError(parameter, "must be all of DNA or all of RNA, as a read is")
    pores = sorted({one.pore for one in references} - {""})
    if len(pores) > 1:
        raise ParameterError(parameter, f"must be all for one pore; there are some for {' and for '.join(pores)}")
