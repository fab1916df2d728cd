"""The options of a scan for signatures."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal, get_args

from oclgenomics.errors import ParameterError

Report = Literal["best", "first", "all"]
Strand = Literal["+", "-", "both"]
Method = Literal["auto", "index", "planes", "brute"]
ReportFormat = Literal["tsv", "course", "bed", "jsonl"]
REPORTS: tuple[Report, ...] = get_args(Report)
STRANDS: tuple[Strand, ...] = get_args(Strand)
METHODS: tuple[Method, ...] = get_args(Method)
FORMATS: tuple[ReportFormat, ...] = get_args(ReportFormat)
MAX_MISMATCHES = 7
MAX_EDITS = 4
BEST_QUALITY = 93


@dataclass(frozen=True)
class ScanOptions:
    """What counts as a match, and which matches are reported.

    A match is a place in a sample at which every letter of the signature has a nucleotide in common with the sample's
    letter, but for `max_mismatches` letters. Its score is the mean quality of the sample's letters under the whole
    signature.

    Attributes
    ----------
    report : {'best', 'first', 'all'}
        Of a sample and a signature on a strand: the match of the fewest mismatches, among these of the highest score,
        among these the leftmost; the leftmost one; or all of them.
    strand : {'+', '-', 'both'}
        The signatures as they are, their reverse complements, or both.
    method : {'auto', 'index', 'planes', 'brute'}
        How matches are found; all methods find the same ones.
    max_mismatches : int
        Letters of a match that need not match, 0 to 7.
    min_informative : float
        A match needs this share of positions, 0 to 1, at which both letters are a single nucleotide.
    min_score : float
        A match needs this mean quality; samples need qualities if it is not 0.
    max_edits : int
        Substitutions, insertions and deletions that a match may have, 0 to 4; instead of `max_mismatches`. Neighbouring
        ends at which a signature matches are then one match, that of the fewest edits. `method` is not 'planes'.

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

    def __post_init__(self) -> None:
        for name, choices in (("report", REPORTS), ("strand", STRANDS), ("method", METHODS)):
            if getattr(self, name) not in choices:
                raise ParameterError(name, f"choose one of {', '.join(choices)}", getattr(self, name))
        if not 0 <= self.max_mismatches <= MAX_MISMATCHES:
            raise ParameterError("max_mismatches", f"0 to {MAX_MISMATCHES} can be found exactly", self.max_mismatches)
        if not 0 <= self.max_edits <= MAX_EDITS:
            raise ParameterError("max_edits", f"0 to {MAX_EDITS} can be found exactly", self.max_edits)
        if self.max_edits and self.max_mismatches:
            raise ParameterError(
                "max_edits", "substitutions are edits, too; leave out `max_mismatches`", self.max_edits
            )
        if self.max_edits and self.method == "planes":
            raise ParameterError("method", "does not find insertions and deletions; choose auto or index", self.method)
        if not 0 <= self.min_informative <= 1:
            raise ParameterError("min_informative", "a share is 0 to 1", self.min_informative)
        if not 0 <= self.min_score <= BEST_QUALITY:
            raise ParameterError("min_score", f"qualities are 0 to {BEST_QUALITY}", self.min_score)
