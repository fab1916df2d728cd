"""What is read of an input of alignments, and how."""

from __future__ import annotations

import os
import re
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any, Literal, get_args

import numpy as np
from numpy.typing import NDArray

from oclgenomics.errors import ParameterError
from oclgenomics.variation.bed import MAX_BP

Phase = Literal["auto", "missing", "strict", "ignore"]
"""'auto': a heterozygous call that is not phased makes its alignment unphased; 'missing': calls that are not phased are
missing; 'strict': they are refused; 'ignore': the order in which alleles are written is their phase."""

PHASES: tuple[Phase, ...] = get_args(Phase)


def unphased_calls(
    slashed: NDArray[np.bool_], first: NDArray[Any], second: NDArray[Any], missing: int, phase: Phase
) -> NDArray[np.bool_] | None:
    """Tell which calls are not phased; None if none is, or nobody asks.

    Parameters
    ----------
    slashed : ndarray of bool, shape (sites, samples)
        Calls written with '/'.
    first, second : ndarray of integers, shape (sites, samples)
        Their alleles.
    missing : int
        Stands for no allele.
    phase : str
        One of `PHASES`.

    Returns
    -------
    ndarray of bool, shape (sites, samples), or None
    """
    if phase == "ignore" or not slashed.any():
        return None
    found: NDArray[np.bool_] = slashed & (first != second)
    if phase == "auto":
        found &= (first != missing) & (second != missing)
    return found if found.any() else None


Records = Literal["usual", "raisd"]
RECORDS: tuple[Records, ...] = get_args(Records)

Format = Literal["ms", "mbs", "macs", "fasta", "vcf", "trees", "vcz"]
FORMATS: tuple[Format, ...] = get_args(Format)


_SPAN = re.compile(r"(.+):([0-9,]+)-([0-9,]*)", re.DOTALL)


@dataclass(frozen=True)
class Region:
    """A region of one chromosome.

    Attributes
    ----------
    chromosome : str
    first, last : int
        POS of the records in it, 1-based and inclusive. A whole chromosome also has POS 0, a telomere.
    """

    chromosome: str
    first: int = 0
    last: int = MAX_BP

    @classmethod
    def parse(cls, text: str) -> Region:
        """Read CHR, CHR:FROM- or CHR:FROM-TO; commas between thousands may stand.

        Raises
        ------
        ParameterError
            It is something else, or ends before it begins.
        """
        if text and ":" not in text:
            return cls(text)
        span = _SPAN.fullmatch(text)
        first, last = ("", "") if span is None else (span[2].replace(",", ""), span[3].replace(",", ""))
        if span is None or not first or bool(last) != bool(span[3]):
            raise ParameterError("region", "write CHR, CHR:FROM- or CHR:FROM-TO, such as 20:1000000-1200000", text)
        found = cls(span[1], int(first), int(last) if last else MAX_BP)
        if not 1 <= found.first <= MAX_BP or found.last > MAX_BP:
            raise ParameterError("region", f"positions lie between 1 and {MAX_BP} bp", text)
        if found.first > found.last:
            raise ParameterError("region", "its end comes before its start; exchange them", text)
        return found

    def holds(self, positions: NDArray[np.int64]) -> NDArray[np.bool_]:
        """Tell which positions of the chromosome are in it."""
        inside: NDArray[np.bool_] = (positions >= self.first) & (positions <= self.last)
        return inside


@dataclass(frozen=True, kw_only=True)
class ReadOptions:
    """What is read of an input of alignments.

    Parameters
    ----------
    length : float, optional
        Length of the region in bp, at least 1; ms and MaCS need it, as their positions are relative.
    format : str, optional
        'ms', 'mbs', 'macs', 'fasta', 'vcf', 'trees' or 'vcz'; detected from the content if not given.
    samples : iterable of str, or path, optional
        Samples to keep (VCF, VCF Zarr, tree sequences), or a file with one name a line. Names are kept as a tuple.
    phase : str
        What is done with calls that are not phased: 'auto' (a heterozygous one sets `Alignment.unphased`), 'missing'
        (they are taken as missing), 'strict' (they are refused) or 'ignore' (the order of their alleles is taken as
        their phase).
    region : str, optional
        The only records to read, of VCF, BCF and VCF Zarr: those of one chromosome, 'CHR', or those whose POS lies in
        'CHR:FROM-TO' or 'CHR:FROM-' (1-based, inclusive). A deletion that begins before FROM is not one of them. All is
        as with a file that holds only these records.
    exact_positions : bool
        Give positions of ms with their fractions, too (`Alignment.exact`).
    ancestral : bool
        Give the ancestral bases of INFO/AA, too (`Alignment.ancestral`); VCF and BCF.
    records : str
        Which records of a VCF are read: 'usual', or 'raisd' for those that RAiSD 2.9 takes: with one ALT allele of one
        character, whatever FILTER and INFO say. `Alignment.last_record` is known of the latter. Other formats have
        their usual ones.

    Raises
    ------
    UsageError
        A value out of range; the message names the parameter.
    """

    length: float | None = None
    format: Format | None = None
    samples: Iterable[str] | str | os.PathLike[str] | None = None
    phase: Phase = "auto"
    region: str | None = None
    exact_positions: bool = False
    ancestral: bool = False
    records: Records = "usual"

    def __post_init__(self) -> None:
        if self.length is not None and not 1 <= self.length <= MAX_BP:
            raise ParameterError("length", f"must be between 1 and {MAX_BP} bp, not {self.length:g}")
        if self.format is not None and self.format not in FORMATS:
            raise ParameterError("format", f"must be one of {', '.join(FORMATS)}, not {self.format!r}")
        if self.phase not in PHASES:
            raise ParameterError("phase", f"must be one of {', '.join(PHASES)}, not {self.phase!r}")
        if self.records not in RECORDS:
            raise ParameterError("records", f"must be one of {', '.join(RECORDS)}, not {self.records!r}")
        if self.samples is not None and not isinstance(self.samples, (str, os.PathLike)):
            names = tuple(self.samples)  # an iterator would serve the first input only
            if not all(isinstance(name, str) for name in names):
                raise ParameterError("samples", "must be names, or the path of a file of names")
            object.__setattr__(self, "samples", names)
        if self.region is not None:
            Region.parse(self.region)
