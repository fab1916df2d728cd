"""The parts of one chromosome, joined to an alignment when all of it is read."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Collection, Iterator, Mapping

import numpy as np
from numpy.typing import NDArray

from oclgenomics.errors import InputError
from oclgenomics.io.workers import Workers
from oclgenomics.variation.alignment import Alignment
from oclgenomics.variation.bed import MAX_BP
from oclgenomics.variation.planes import Genotypes
from oclgenomics.variation.read_options import Phase, Region
from oclgenomics.variation.site_parts import SiteParts


def first_out_of_order(positions: NDArray[np.int64], name: str, before: int = 0) -> tuple[int, str] | None:
    """Which position of a chromosome is the first to go back, and what to say of it; None if all are in order."""
    steps = np.diff(positions, prepend=before)
    back = np.flatnonzero(steps < 0)
    if not len(back):
        return None
    i = int(back[0])
    return i, f"position {positions[i]} comes after {positions[i] - steps[i]} on {name}; use bcftools sort"


def count_reasons(reasons: list[tuple[str, NDArray[np.bool_]]]) -> Counter[str]:
    """Records left out, each counted under the first reason that applies."""
    skipped: Counter[str] = Counter()
    counted = np.zeros(len(reasons[0][1]), bool)
    for reason, flags in reasons:
        skipped[reason] = int((flags & ~counted).sum())  # also 0, so that the order never depends on the data
        counted |= flags
    return skipped


def nothing_in(region: Region, names: Collection[str], source: str) -> InputError:
    """Return the error of an input without a record in a region; `names` are the chromosomes of its records."""
    if region.chromosome not in names:
        shown = ", ".join(sorted(names)[:3]) + (" and others" if len(names) > 3 else "")
        return InputError(f"holds no chromosome {region.chromosome} (but {shown})", source=source)
    where = f"from {region.first:,} bp on" if region.last == MAX_BP else f"from {region.first:,} to {region.last:,} bp"
    return InputError(f"has no record of chromosome {region.chromosome} {where}", source=source)


class Chromosome:
    """The parts of one chromosome, site-major, until all of it is read.

    Parameters
    ----------
    name : str
        As `Alignment.name`.
    number : int
        As `Alignment.replicate`.
    individuals : int
        How many individuals the genotypes have.
    samples : tuple of str
        Their names, none where the format has none.
    source : str
        Name of the input.

    Attributes
    ----------
    last_record : int
        As `Alignment.last_record`.
    with_ancestral : bool
        Ancestral bases are given with the sites.
    """

    last_record = 0
    with_ancestral = False

    def __init__(self, name: str, number: int, individuals: int, samples: tuple[str, ...], source: str) -> None:
        self.name, self._number, self._source = name, number, source
        self._samples = samples
        self._last_position = 0
        self._skipped: Counter[str] = Counter()
        self._positions: list[NDArray[np.int64]] = []
        self._ancestral: list[NDArray[np.uint8]] = []
        self._sites = SiteParts(individuals)

    def out_of_order(self, positions: NDArray[np.int64]) -> tuple[int, str] | None:
        """Which of the next positions is the first to go back, and what to say of it; None if all are in order."""
        wrong = first_out_of_order(positions, self.name, self._last_position)
        if wrong is None:
            self._last_position = int(positions[-1])
        return wrong

    def skip(self, counts: Mapping[str, int]) -> None:
        """Count sites left out, by reason."""
        self._skipped.update(counts)

    def add(
        self, positions: NDArray[np.int64], genotypes: Genotypes, ancestral: NDArray[np.uint8] | None = None
    ) -> None:
        """Append sites; of all or of none the ancestral bases are given."""
        self._positions.append(positions)
        self._ancestral += [] if ancestral is None else [ancestral]
        self._sites.add(genotypes)

    def finish(self, phase: Phase, workers: Workers | None = None) -> Alignment:
        """Join the parts, in threads if there are some."""
        sites = self._sites.join(workers)
        positions = np.concatenate([np.zeros(0, np.int64), *self._positions])
        ancestral = np.concatenate([np.zeros(0, np.uint8), *self._ancestral])
        skipped = {reason: count for reason, count in self._skipped.items() if count}
        return Alignment(
            name=self.name, positions=positions, unphased=sites.unphased_calls > 0 and phase == "auto",
            samples=self._samples, skipped=skipped, replicate=self._number, source=self._source,
            last_record=self.last_record, ancestral=ancestral if self.with_ancestral else None, **vars(sites),
        )  # fmt: skip


class Chromosomes:
    """Begins one chromosome after the other, none twice.

    Parameters
    ----------
    samples : tuple of str
    source : str
        Name of the input.
    phase : str
        What is done with calls that are not phased.
    workers : Workers, optional
        The threads that join what was read; none but the caller's if not given.

    Attributes
    ----------
    open : Chromosome or None
        The one that is read.
    """

    def __init__(self, samples: tuple[str, ...], source: str, phase: Phase, workers: Workers | None = None) -> None:
        self.open: Chromosome | None = None
        self._samples, self._source, self._phase, self._workers = samples, source, phase, workers
        self._names: set[str] = set()

    def begin(self, name: str, error: Callable[[str], InputError]) -> Chromosome:
        """Open a chromosome.

        Raises
        ------
        InputError
            It was closed before; made by `error`.
        """
        if name in self._names:
            raise error(f"records of {name} come again after those of another chromosome; use bcftools sort")
        self._names.add(name)
        self.open = Chromosome(name, len(self._names), len(self._samples), self._samples, self._source)
        return self.open

    def close(self) -> Iterator[Alignment]:
        """Yield the chromosome that is open, if there is one."""
        closed, self.open = self.open, None
        if closed is not None:
            yield closed.finish(self._phase, self._workers)
