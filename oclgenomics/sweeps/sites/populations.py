"""Two sets of samples that statistics compare: their file, and which haplotypes of an alignment they have."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from oclgenomics.errors import InputError
from oclgenomics.io.text_file import read_text
from oclgenomics.variation.alignment import Alignment
from oclgenomics.variation.packing import pack_states
from oclgenomics.variation.samples import MAX_LIST_BYTES

SHOWN = 5
LEAST_HAPLOTYPES = 2


@dataclass(frozen=True, eq=False)
class Populations:
    """Two populations of samples.

    Attributes
    ----------
    names : tuple of str
        Of the first and the second one.
    members : mapping of str to int
        Samples of the two, by their names: 0 for the first population, 1 for the second one.
    source : str
        The file, for messages.
    """

    names: tuple[str, str]
    members: Mapping[str, int]
    source: str = ""

    def masks(self, alignment: Alignment) -> NDArray[np.uint32]:
        """Return the haplotypes of the two populations, uint32 (2, words); bits as `Alignment` has them.

        Samples of an alignment without names are named by their numbers, from 1; haplotypes are, where they are not
        paired.

        Raises
        ------
        InputError
            An alignment has fewer than two haplotypes of a population.
        """
        count = alignment.haplotypes // alignment.ploidy
        names = alignment.samples or [str(number) for number in range(1, count + 1)]
        place = np.repeat([self.members.get(name, -1) for name in names], alignment.ploidy)
        for number, name in enumerate(self.names):
            if (place == number).sum() < LEAST_HAPLOTYPES:
                shown = ", ".join([*names[:SHOWN], *["..."] * (len(names) > SHOWN)])
                wrong = f"{alignment.name} has fewer than two haplotypes of population {name}; its samples are {shown}"
                raise InputError(wrong, source=self.source)
        return pack_states(np.stack([place == 0, place == 1]))


def read_populations(path: str | os.PathLike[str], between: Sequence[str] | None = None) -> Populations:
    """Read which samples belong to two populations.

    Parameters
    ----------
    path : path
        A sample and its population in each line, parted by a tab, or by spaces where there is no tab.
    between : sequence of str, optional
        The two populations, the first one first. If not given, the file has two, in the order of their first lines.

    Raises
    ------
    InputError
        The file cannot be read, a line has other columns, a sample has two lines, or the populations are not two or are
        not there.
    """
    text, source = read_text(path, MAX_LIST_BYTES)
    population_of: dict[str, str] = {}
    for number, line in enumerate(text.splitlines(), start=1):
        if not line.strip():
            continue
        words = [word.strip() for word in (line.split("\t") if "\t" in line else line.split())]
        if len(words) != 2 or not all(words):
            raise InputError("give two columns, a sample and its population", source=source, line=number)
        if words[0] in population_of:
            raise InputError(f"sample {words[0]!r} has a line already", source=source, line=number)
        population_of[words[0]] = words[1]
    known = list(dict.fromkeys(population_of.values()))
    shown = ", ".join([*known[:SHOWN], *["..."] * (len(known) > SHOWN)]) or "none"
    if between is None and len(known) != 2:
        raise InputError(f"has {len(known)} populations ({shown}); name two of them with `between`", source=source)
    first, second = known if between is None else between
    for name in (first, second):
        if name not in known:
            raise InputError(f"has no population {name!r}; it has {shown}", source=source)
    number_of = {first: 0, second: 1}
    return Populations(
        (first, second), {name: number_of[own] for name, own in population_of.items() if own in number_of}, source
    )
