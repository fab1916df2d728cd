"""The one shape every reader delivers: an alignment of sites, packed one bit per haplotype."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import ArrayLike, NDArray

from oclgenomics.errors import ParameterError
from oclgenomics.variation.arrays import pack_genotypes, pack_haplotypes, positions_of
from oclgenomics.variation.checks import (
    check_array,
    check_haploid,
    check_masks,
    check_positions,
    check_rows,
    check_tail,
)
from oclgenomics.variation.packing import unpack_sites, words_for
from oclgenomics.variation.site_parts import Alphabet, PackedSites


@dataclass
class Alignment:
    """Sites of one chromosome or one replicate, packed word-major.

    Haplotype h of site s is bit h % 32 of ``bits[h // 32, s]``. A bit is 1 where the haplotype carries the second state
    of the site; it is 0 where the state is missing and past the last haplotype.

    Attributes
    ----------
    name : str
        Chromosome (VCF), or "1", "2", ... for replicates and single alignments.
    positions : ndarray of int64, shape (sites,)
        Base pairs, counted from 1 where the format does; non-decreasing.
    bits : ndarray of uint32, shape (words, sites)
        Second state of each site.
    valid : ndarray of uint32, shape (words, sites), or None
        1 = observed. None for complete data. ``bits & ~valid`` is 0 everywhere.
    gap : ndarray of uint32, shape (words, sites), or None
        1 where the missing state was a gap '-'. None: every missing entry is N or '.'.
    haplotypes : int
        Bits in use per site.
    ploidy : int
        1 or 2; haplotypes 2i and 2i + 1 belong to sample i when 2.
    unphased : bool
        True if the order of some calls' alleles says nothing of their phase.
    unphased_calls : int
        Calls that were not phased: heterozygous ones written with '/', or, where they were taken as missing, any with
        '/' between what differs.
    letters : ndarray of uint8, shape (sites, 2)
        ASCII of state 0 and state 1; '0' and '1' for binary data. Where only one state is named, both are that one.
    multi_site : ndarray of int32, shape (rows,)
        Site index of each row of a site that shows three or more states; every observed state of such a site has a row.
    multi_bits : ndarray of uint32, shape (words, rows)
        "This state against the rest"; the rows of one site are adjacent, in the order A, C, G, T. In `bits` such a site
        holds "not the first of its rows".
    multi_letter : ndarray of uint8, shape (rows,)
        ASCII of the state of each row.
    alphabet : str
        'binary' or 'dna'.
    samples : tuple of str
        Names in the order of the haplotypes, where the format has them.
    skipped : dict of str to int
        Records the reader left out, by reason.
    replicate : int
        Number of the alignment within its input, counted from 1.
    source : str
        Path of the input, "-" for standard input.
    haploid : ndarray of uint32, shape (words, sites), or None
        1 at the second haplotype of each haploid call that has an allele, such as those of males on chromosome X; no
        state is observed there. None if no call is haploid among diploid ones.
    exact : ndarray of float64, shape (sites,), or None
        Positions in bp with their fractions, where the format has some and they were asked for
        (`ReadOptions.exact_positions`).
    ancestral : ndarray of uint8, shape (sites,), or None
        Ancestral base of each site as it is written, ASCII, 0 where there is none; None if they were not asked for
        (`ReadOptions.ancestral`).
    last_record : int
        POS of the chromosome's last record, read or not, where RAiSD's records were asked for (`ReadOptions.records`);
        else 0.
    ordered : bool
        False: the first state is the one that comes first in the alphabet, as in FASTA, which names no reference.
    """

    name: str
    positions: NDArray[np.int64]
    bits: NDArray[np.uint32]
    haplotypes: int
    letters: NDArray[np.uint8]
    valid: NDArray[np.uint32] | None = None
    gap: NDArray[np.uint32] | None = None
    ploidy: int = 1
    unphased: bool = False
    unphased_calls: int = 0
    multi_site: NDArray[np.int32] = field(default_factory=lambda: np.zeros(0, np.int32))
    multi_bits: NDArray[np.uint32] = None  # type: ignore[assignment]  # an array of no rows if not given
    multi_letter: NDArray[np.uint8] = field(default_factory=lambda: np.zeros(0, np.uint8))
    alphabet: Alphabet = "binary"
    samples: tuple[str, ...] = ()
    skipped: dict[str, int] = field(default_factory=dict)
    replicate: int = 1
    source: str = ""
    haploid: NDArray[np.uint32] | None = None
    exact: NDArray[np.float64] | None = None
    ancestral: NDArray[np.uint8] | None = None
    last_record: int = 0
    ordered: bool = True

    def __post_init__(self) -> None:
        if self.multi_bits is None:
            self.multi_bits = np.zeros((self.words, 0), np.uint32)
        shape = (words_for(self.haplotypes), len(self.positions))
        if np.shape(self.bits) != shape:
            raise ParameterError("bits", f"must have the shape {shape}, not {np.shape(self.bits)}")

    @classmethod
    def from_haplotypes(
        cls,
        positions: ArrayLike,
        states: ArrayLike,
        *,
        missing: int = -1,
        phased: bool = True,
        name: str = "1",
        alleles: ArrayLike | None = None,
        samples: Sequence[str] = (),
    ) -> Alignment:
        """Pack the states of haplotypes, as scikit-allel's `HaplotypeArray` holds them.

        Parameters
        ----------
        positions : array of integers, shape (sites,)
            Base pairs, counted from 1; non-decreasing.
        states : array of integers or bool, shape (sites, haplotypes)
            Number of the allele that each haplotype carries, 0 being the first; missing where negative, or masked in a
            `MaskedArray`.
        missing : int
            What a missing state is, apart from negative numbers.
        phased : bool
            False: haplotypes 2i and 2i + 1 are the two alleles of sample i, in an order that says nothing. If a call
            is heterozygous the alignment is `unphased`, as one that is read from a VCF with `phase="auto"`.
        name : str
            Name of the chromosome.
        alleles : array of str, shape (sites, alleles), optional
            Names of the alleles, single bases with the reference first, '' or '.' past the last; sgkit's
            `variant_allele`. Without them states 0 and 1 are called so, or A, C, G and T if any site has a third.
        samples : sequence of str
            Names of the haplotypes, or of the samples where `phased` is False.

        Raises
        ------
        UsageError
            Arrays that do not go together, positions that go back, states that the site does not have, alleles that
            are no single bases; the message names the parameter and the site.
        """
        places = positions_of(positions)
        return cls._of_packed(places, pack_haplotypes(states, alleles, missing, phased), name, samples)

    @classmethod
    def from_genotypes(
        cls,
        positions: ArrayLike,
        genotypes: ArrayLike,
        *,
        missing: int = -1,
        phased: bool | ArrayLike | None = None,
        name: str = "1",
        alleles: ArrayLike | None = None,
        samples: Sequence[str] = (),
    ) -> Alignment:
        """Pack the calls of samples, as scikit-allel's `GenotypeArray` and sgkit's `call_genotype` hold them.

        Parameters
        ----------
        positions : array of integers, shape (sites,)
            Base pairs, counted from 1; non-decreasing.
        genotypes : array of integers or bool, shape (sites, samples, ploidy)
            Number of each allele, 0 being the first; missing where negative or masked (by NumPy's `MaskedArray` or
            scikit-allel's `mask`). If the second of a call is -2 (sgkit's filling), it is haploid. No call may have a
            third.
        missing : int
            What a missing allele is, apart from negative numbers.
        phased : bool, or array of bool of shape (sites, samples)
            Whether the order of a call's alleles is their phase; sgkit's `call_genotype_phased`. A heterozygous call
            that is not phased makes the alignment `unphased`, as one that is read from a VCF with `phase="auto"`. If
            not given, scikit-allel's `is_phased` where the array has it, else True.
        name : str
            Name of the chromosome.
        alleles : array of str, shape (sites, alleles), optional
            Names of the alleles, single bases with the reference first, '' or '.' past the last; sgkit's
            `variant_allele`. Without them states 0 and 1 are called so, or A, C, G and T if any site has a third.
        samples : sequence of str
            Names of the samples.

        Raises
        ------
        UsageError
            Arrays that do not go together, positions that go back, calls of more than two alleles, alleles that the
            site does not have or that are no single bases; the message names the parameter and the site.
        """
        places = positions_of(positions)
        return cls._of_packed(places, pack_genotypes(genotypes, alleles, missing, phased), name, samples)

    @classmethod
    def _of_packed(
        cls, positions: NDArray[np.int64], packed: PackedSites, name: str, samples: Sequence[str]
    ) -> Alignment:
        if len(positions) != packed.bits.shape[1]:
            raise ParameterError(
                "positions", f"must be as many as the sites, {packed.bits.shape[1]}, not {len(positions)}"
            )
        alignment = cls(
            name=name, positions=positions, samples=tuple(samples), unphased=packed.unphased_calls > 0, **vars(packed)
        )
        alignment.validate()
        return alignment

    def validate(self) -> None:
        """Refuse an alignment that does not hold together; quick compared with any use of it.

        Raises
        ------
        UsageError
            An array of another type or shape than it has above, positions that go back, a bit past the last haplotype,
            a state where none was observed, rows of many states out of order; the message names the first site where
            it is so.
        """
        check_array("positions", self.positions, np.int64, (self.sites,))
        if self.exact is not None:
            check_array("exact", self.exact, np.float64, (self.sites,))
        if self.ancestral is not None:
            check_array("ancestral", self.ancestral, np.uint8, (self.sites,))
        shape = (words_for(self.haplotypes), self.sites)
        planes = {"bits": self.bits, "valid": self.valid, "gap": self.gap, "haploid": self.haploid}
        for name, plane in planes.items():
            if plane is not None:
                check_array(name, plane, np.uint32, shape)
                check_tail(name, plane, self.haplotypes)
        check_array("letters", self.letters, np.uint8, (self.sites, 2))
        check_array("multi_site", self.multi_site, np.int32, (len(self.multi_site),))
        rows = len(self.multi_site)
        check_array("multi_letter", self.multi_letter, np.uint8, (rows,))
        check_array("multi_bits", self.multi_bits, np.uint32, (shape[0], rows))
        check_tail("multi_bits", self.multi_bits, self.haplotypes, "row")
        check_positions(self.positions)
        check_rows(self.multi_site, self.multi_letter, self.sites)
        if self.valid is not None:
            check_masks(self.bits, self.valid, self.gap)
        elif self.gap is not None:
            raise ParameterError("gap", "must be None where valid is None: a gap is a missing state")
        check_haploid(self.haploid, self.valid, self.ploidy)
        self._check_samples()

    def _check_samples(self) -> None:
        if self.ploidy not in (1, 2) or self.haplotypes % self.ploidy:
            raise ParameterError("ploidy", f"must be 1, or 2 with an even number of haplotypes, not {self.ploidy}")
        if self.unphased and self.ploidy == 1:
            raise ParameterError(
                "unphased", "must be False where ploidy is 1: the two haplotypes of a sample are neighbours"
            )
        individuals = self.haplotypes // self.ploidy
        if self.samples and len(self.samples) != individuals:
            raise ParameterError("samples", f"must be {individuals} names or none, not {len(self.samples)}")

    def __repr__(self) -> str:
        span = f", {self.positions[0]:.0f} to {self.positions[-1]:.0f} bp" if self.sites else ""
        return f"<Alignment {self.name!r}: {self.haplotypes} haplotypes, {self.sites} sites{span}>"

    @property
    def sites(self) -> int:
        """Number of sites."""
        return len(self.positions)

    @property
    def words(self) -> int:
        """Number of 32-bit words per site."""
        return len(self.bits)

    @property
    def absent(self) -> NDArray[np.uint32] | None:
        """1 where there is no haplotype that could have a state: second ones of haploid calls, uint32 (words, sites).

        None if there is none.

        A sample of which all observed calls are haploid has no second haplotype at any site.
        """
        if self.haploid is None:
            return None
        return self.haploid | self.never()[:, None]

    @property
    def copies(self) -> int:
        """Number of haplotypes that the samples have: one of each sample of which all observed calls are haploid."""
        return self.haplotypes - int(np.bitwise_count(self.never()).sum())

    def never(self) -> NDArray[np.uint32]:
        """Return the second haplotypes of samples of which all observed calls are haploid, uint32 (words,)."""
        if self.haploid is None or self.valid is None:
            return np.zeros(self.words, np.uint32)
        once: NDArray[np.uint32] = np.bitwise_or.reduce(self.haploid, axis=1)
        twice: NDArray[np.uint32] = np.bitwise_or.reduce(self.valid, axis=1)
        return once & ~twice

    def partly_haploid(self) -> int:
        """Return the number of samples that are haploid at some sites and diploid at others."""
        if self.haploid is None or self.valid is None:
            return 0
        once, twice = np.bitwise_or.reduce(self.haploid, axis=1), np.bitwise_or.reduce(self.valid, axis=1)
        return int(np.bitwise_count(once & twice).sum())

    @property
    def multiallelic(self) -> bool:
        """Whether a site shows three or more states."""
        return len(self.multi_site) > 0

    @property
    def packed_bytes(self) -> int:
        """Bytes of all packed planes together."""
        planes = [self.bits, self.valid, self.gap, self.multi_bits, self.haploid]
        return sum(plane.nbytes for plane in planes if plane is not None)


def characters(alignment: Alignment) -> NDArray[np.uint8]:
    """State letter of every haplotype at every site, N or - where missing; ASCII, uint8 (sites, haplotypes)."""
    bits = unpack_sites(alignment.bits, alignment.haplotypes)
    text: NDArray[np.uint8] = np.where(bits == 1, alignment.letters[:, 1:], alignment.letters[:, :1])
    for row, site in enumerate(alignment.multi_site.tolist()):
        carriers = unpack_sites(alignment.multi_bits[:, row : row + 1], alignment.haplotypes)[0]
        text[site, carriers == 1] = alignment.multi_letter[row]
    if alignment.valid is not None:
        text[unpack_sites(alignment.valid, alignment.haplotypes) == 0] = ord("N")
    if alignment.gap is not None:
        text[unpack_sites(alignment.gap, alignment.haplotypes) == 1] = ord("-")
    return text


@dataclass(frozen=True)
class AlignmentRead:
    """What was read of an alignment whose scan comes later: what figures and messages show of it.

    Attributes
    ----------
    name : str
    binary : bool
        The states are 0 and 1, as those of simulated replicates are.
    sites, haplotypes, copies, ploidy, unphased, unphased_calls
        As in `Alignment`, before any site was left out.
    haploid : bool, optional
        True if any call is haploid among diploid ones; None if none is.
    samples : tuple of str
        Their names, of the first alignment of an input only.
    """

    name: str
    binary: bool
    sites: int
    haplotypes: int
    copies: int
    ploidy: int
    unphased: bool
    unphased_calls: int
    haploid: bool | None
    samples: tuple[str, ...]

    @classmethod
    def of(cls, alignment: Alignment, number: int) -> AlignmentRead:
        """Take it from the `number`-th alignment of an input, counted from 0."""
        names = ("name", "sites", "haplotypes", "copies", "ploidy", "unphased", "unphased_calls")
        return cls(
            binary=alignment.alphabet == "binary", haploid=None if alignment.haploid is None else True,
            samples=() if number else alignment.samples, **{name: getattr(alignment, name) for name in names},
        )  # fmt: skip
