"""Recombination maps: reading them, and where positions lie on them."""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from oclgenomics.errors import InputError
from oclgenomics.io.text_file import read_text

HAPMAP_COLUMNS, PLINK_COLUMNS = 4, 4
ANY_CHROMOSOME = ""


@dataclass(frozen=True, eq=False)
class RecombinationMap:
    """Genetic positions along chromosomes.

    Attributes
    ----------
    bp, centimorgans : dict of str to ndarray of float64, shape (points,)
        By chromosome, both ascending; the name is empty if the file names none, and then it is any.
    source : str
        Where it comes from, for messages.
    """

    bp: dict[str, NDArray[np.float64]]
    centimorgans: dict[str, NDArray[np.float64]]
    source: str = ""

    def at(self, name: str, positions: NDArray[np.float64]) -> NDArray[np.float64]:
        """Return the genetic positions of a chromosome's bp, in cM: linear between points, and beyond at the mean rate.

        Raises
        ------
        InputError
            The map does not have this chromosome.
        """
        known = next((one for one in (name, ANY_CHROMOSOME, *_other_names(name)) if one in self.bp), None)
        if known is None:
            raise InputError(f"has no chromosome {name}; it has {', '.join(list(self.bp)[:5])}", source=self.source)
        bp, cm = self.bp[known], self.centimorgans[known]
        rate = (cm[-1] - cm[0]) / (bp[-1] - bp[0])
        inside = np.interp(positions, bp, cm)
        beyond = np.minimum(positions - bp[0], 0.0) + np.maximum(positions - bp[-1], 0.0)
        found: NDArray[np.float64] = inside + rate * beyond
        return found


def _other_names(name: str) -> tuple[str, ...]:
    return (name.removeprefix("chr"),) if name.startswith("chr") else (f"chr{name}",)


def read_recombination_map(path: str | os.PathLike[str]) -> RecombinationMap:
    """Read a recombination map, uncompressed or compressed.

    Three forms are known by their columns: HapMap's with a header (chromosome, bp, cM/Mb, cM), PLINK's without one
    (chromosome, name, cM, bp), and SweepFinder2's with the header `position rate` (bp, and the cM since the last line).

    Raises
    ------
    InputError
        The file cannot be read or is something else, or points do not ascend; the message names the line.
    """
    text, source = read_text(path)
    points: dict[str, list[tuple[float, float]]] = {}
    for number, name, bp, cm in _points(text.splitlines(), source):
        own = points.setdefault(name, [])
        if own and (bp <= own[-1][0] or cm < own[-1][1]):
            raise InputError("its bp or cM do not ascend", source=source, line=number)
        own.append((bp, cm))
    if not points:
        raise InputError("holds no point of a recombination map", source=source)
    for name, own in points.items():
        if len(own) < 2:
            where = f" of chromosome {name}" if name else ""
            raise InputError(f"a map needs two points or more, and there is one{where}", source=source)
    arrays = {name: np.array(own, np.float64) for name, own in points.items()}
    return RecombinationMap(
        {name: one[:, 0].copy() for name, one in arrays.items()},
        {name: one[:, 1].copy() for name, one in arrays.items()}, source,
    )  # fmt: skip


def _points(lines: Sequence[str], source: str) -> Iterator[tuple[int, str, float, float]]:
    """Line, chromosome, bp and cM of each point."""
    rows = [(number, line.split()) for number, line in enumerate(lines, start=1) if line.strip() and line[0] != "#"]
    if not rows:
        return
    first = rows[0][1]
    header = not _is_number(first[-1])
    total = 0.0
    for number, words in rows[header:]:
        try:
            if header and [word.lower() for word in first] == ["position", "rate"]:
                bp, rate = map(float, words)
                total += rate
                point = ANY_CHROMOSOME, bp, total
            elif header and len(words) == HAPMAP_COLUMNS:
                point = words[0], float(words[1]), float(words[3])
            elif not header and len(words) == PLINK_COLUMNS:
                point = words[0], float(words[3]), float(words[2])
            else:
                raise ValueError
            if not (np.isfinite(point[1]) and np.isfinite(point[2])):
                raise ValueError
        except ValueError:
            forms = "chromosome, bp, cM/Mb and cM with a header; chromosome, name, cM and bp; or `position rate`"
            raise InputError(f"is no point of a recombination map: {forms}", source=source, line=number) from None
        yield number, *point


def _is_number(word: str) -> bool:
    try:
        float(word)
    except ValueError:
        return False
    return True
