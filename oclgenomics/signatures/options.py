"""The options of a scan for signatures."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Literal, get_args

from oclgenomics.app.filtering import PAIR_RULES, PairRule
from oclgenomics.errors import ParameterError, check_choice, check_range

Report = Literal["best", "first", "all", "read"]
Strand = Literal["+", "-", "both"]
Method = Literal["auto", "index", "planes", "lanes", "brute"]
ReportFormat = Literal["tsv", "course", "bed", "jsonl", "paf", "sam"]
Trim = Literal["before", "after"]
OverhangAt = Literal["both", "start", "end"]
REPORTS: tuple[Report, ...] = get_args(Report)
STRANDS: tuple[Strand, ...] = get_args(Strand)
METHODS: tuple[Method, ...] = get_args(Method)
EDITS_ONLY: frozenset[Method] = frozenset({"lanes"})  # of these
FORMATS: tuple[ReportFormat, ...] = get_args(ReportFormat)
TRIMS: tuple[Trim, ...] = get_args(Trim)
OVERHANGS_AT: tuple[OverhangAt, ...] = get_args(OverhangAt)
MAX_MISMATCHES = 7
MAX_EDITS = 1000
MAX_OVERHANG = 1_000_000
BEST_QUALITY = 93


@dataclass(frozen=True)
class ScanOptions:
    """What counts as a match, and which matches are reported.

    A match is a place in a sample at which every letter of the signature has a nucleotide in common with the sample's
    letter, but for `max_mismatches` letters. Its score is the mean quality of the sample's letters under the whole
    signature.

    Attributes
    ----------
    report : {'best', 'first', 'all', 'read'}
        Of a sample and a signature on a strand: the match of the fewest mismatches, among these of the highest score,
        among these the leftmost; the leftmost one; or all of them. 'read' reports the best of these best matches of a
        sample: that of the fewest mismatches, then of the highest score, then of the first signature, then on +.
    strand : {'+', '-', 'both'}
        The signatures as they are, their reverse complements, or both.
    method : {'auto', 'index', 'planes', 'lanes', 'brute'}
        How matches are found; all methods find the same ones.
    max_mismatches : int
        Letters of a match that need not match, 0 to 7.
    min_informative : float
        A match needs this share of positions, 0 to 1, at which both letters are a single nucleotide.
    min_score : float
        A match needs this mean quality; samples need qualities if it is not 0.
    max_edits : int
        Substitutions, insertions and deletions that a match may have, 0 to 1,000; instead of `max_mismatches`.
        Neighbouring ends at which a signature matches are then one match, that of the fewest edits. `method` is not
        'planes'; 'lanes' is for edits only.
    alignments : bool
        Find out how signatures are aligned to their matches, and keep the bases, as SAM and PAF need it. Memory then
        holds all matches of the sample at work, also where all are reported.
    overhang : int
        Let signatures run past the start or the end of a sample, with this many letters inside or more; 0: not at all.
        With i of L letters inside, a match has at most `max_mismatches` * i / L mismatches, or `max_edits` * i / L
        edits, rounded down. Bases outside count as mismatches where matches are compared.
    overhang_at : {'both', 'start', 'end'}, optional
        Which end of samples signatures may run past; both if it is not given, but see `FilterOptions.trim`. Those that
        run past both ends are found with the start.

    Raises
    ------
    UsageError
        A value is outside its range.
    """

    report: Report = "best"
    strand: Strand = "+"
    method: Method = "auto"
    max_mismatches: int = 0
    min_informative: float = 0.0
    min_score: float = 0.0
    max_edits: int = 0
    alignments: bool = False
    overhang: int = 0
    overhang_at: OverhangAt | None = None

    def __post_init__(self) -> None:
        for name, value, choices in (
            ("report", self.report, REPORTS), ("strand", self.strand, STRANDS), ("method", self.method, METHODS),
            ("overhang_at", self.overhangs_at, OVERHANGS_AT),
        ):  # fmt: skip
            check_choice(name, value, choices)
        for name, number, most in (
            ("max_mismatches", self.max_mismatches, MAX_MISMATCHES), ("max_edits", self.max_edits, MAX_EDITS),
        ):  # fmt: skip
            check_range(name, number, 0, most, f"0 to {most:,} can be found exactly")
        if self.max_edits and self.max_mismatches:
            text = "substitutions are edits, too; leave out `max_mismatches`"
            raise ParameterError("max_edits", text, self.max_edits)
        if self.max_edits and self.method == "planes":
            text = "does not find insertions and deletions; choose auto, index or lanes"
            raise ParameterError("method", text, self.method)
        if self.method in EDITS_ONLY and not self.max_edits:
            raise ParameterError("method", "is for `max_edits`; choose auto, index or planes", self.method)
        check_range("overhang", self.overhang, 0, MAX_OVERHANG, "it is the least number of bases inside a sample")
        if self.overhangs_at != "both" and not self.overhang:
            raise ParameterError("overhang_at", "is the end that `overhang` is for; give that, too", self.overhang_at)
        check_range("min_informative", self.min_informative, 0, 1, "a share is 0 to 1")
        check_range("min_score", self.min_score, 0, BEST_QUALITY, f"qualities are 0 to {BEST_QUALITY}")

    @property
    def overhangs_at(self) -> OverhangAt:
        """Which end of samples signatures may run past."""
        return self.overhang_at or "both"

    @property
    def of_pairs(self) -> ScanOptions:
        """How the matches of each sample and signature are found, of which one or all are reported in the end."""
        return replace(self, report="best") if self.report == "read" else self


@dataclass(frozen=True)
class FilterOptions:
    """Which reads a filter keeps, and what of them.

    Attributes
    ----------
    scan : ScanOptions
        What counts as a match. A read passes if any signature matches; its best match is that of `report='read'`,
        whatever `report` says.
    pairs : {'either', 'both'}
        A pair passes if either of its mates does, or both do.
    drop : bool
        Keep the reads that do not pass.
    trim : {'before', 'after'}, optional
        Cut the best match of each read that is kept, and all bases before it, or all after it. Without it reads stay as
        they are. With `ScanOptions.overhang`, signatures run past the start of reads, or their end, unless
        `overhang_at` says otherwise.
    label : bool
        Append the name of the best match's signature to the header of each read that is kept, ` signature=NAME`, and
        ` ties=N` where N other signatures match as well.

    Raises
    ------
    UsageError
        A value is outside its range, or reads that are dropped would be cut.
    """

    scan: ScanOptions = ScanOptions()
    pairs: PairRule = "either"
    drop: bool = False
    trim: Trim | None = None
    label: bool = False

    def __post_init__(self) -> None:
        check_choice("pairs", self.pairs, PAIR_RULES)
        if self.trim is not None:
            check_choice("trim", self.trim, TRIMS)
            if self.drop:
                raise ParameterError(
                    "trim", "cuts reads that match, which `drop` leaves out; give one of them", self.trim
                )

    @property
    def of_reads(self) -> ScanOptions:
        """How the best match of each read is found."""
        at = self.scan.overhang_at
        if self.scan.overhang and self.trim is not None and at is None:
            at = "start" if self.trim == "before" else "end"
        return replace(self.scan, report="read", alignments=False, overhang_at=at)
