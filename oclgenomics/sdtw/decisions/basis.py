"""What scores depend on besides the options of alignments: how reads were trimmed, the references, and the pore."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

from oclgenomics.errors import UsageError
from oclgenomics.sdtw.read_kind import UNKNOWN_KIND, ReadKind
from oclgenomics.sdtw.squiggles.squiggle import Squiggle
from oclgenomics.signals import TrimOptions

__all__ = [
    "Basis",
    "KnownTrim",
    "ReferenceFacts",
    "Role",
    "Trim",
    "plain_trim",
    "reference_names",
    "settled_trim",
    "trim_text",
]

Role = Literal["target", "decoy"]
KnownTrim = TrimOptions | None | Literal["unknown"]
"""How reads were trimmed; `unknown` for reads that somebody else read from their files."""

Trim = TrimOptions | None | Literal["thresholds"]
"""How reads are to be trimmed; `thresholds` as those were by which the thresholds were chosen."""

AGAIN = "make new ones with `sdtw evaluate` or `sdtw calibrate`, or give their stages with `stages`"


@dataclass(frozen=True)
class ReferenceFacts:
    """What a reference was.

    Attributes
    ----------
    name : str
    role : {'target', 'decoy'}
    checksum : str
        `Squiggle.checksum`: sequences, both strands, levels.
    model, model_checksum : str
        Name of the model of k-mers, and the checksum of its means; empty if that is not known.
    """

    name: str
    role: Role
    checksum: str
    model: str
    model_checksum: str

    @classmethod
    def of(cls, squiggle: Squiggle, role: Role) -> ReferenceFacts:
        """Return the facts of a reference."""
        return cls(squiggle.name, role, squiggle.checksum, squiggle.model, squiggle.model_checksum)


@dataclass(frozen=True)
class Basis:
    """What the scores were of by which thresholds were chosen, or are of that they are to judge.

    Attributes
    ----------
    trim : TrimOptions, None or 'unknown'
        What was left out at the beginning of reads.
    references : tuple of ReferenceFacts
        Targets, then decoys.
    reads : ReadKind
        What the reads said of themselves.
    """

    trim: KnownTrim
    references: tuple[ReferenceFacts, ...]
    reads: ReadKind = UNKNOWN_KIND

    @classmethod
    def of(
        cls, targets: Sequence[Squiggle], decoys: Sequence[Squiggle], trim: KnownTrim, reads: ReadKind = UNKNOWN_KIND
    ) -> Basis:
        """Return the basis of scores with these references."""
        roles: list[tuple[Sequence[Squiggle], Role]] = [(targets, "target"), (decoys, "decoy")]
        facts = tuple(ReferenceFacts.of(one, role) for some, role in roles for one in some)
        return cls(trim if trim == "unknown" else plain_trim(trim), facts, reads)

    @property
    def names(self) -> tuple[str, ...]:
        """Names of the references; see `reference_names`."""
        named = [[one.name for one in self.references if one.role == role] for role in ("target", "decoy")]
        return reference_names(*named)

    def check(self, other: Basis) -> None:
        """Refuse a basis on which scores mean something else.

        Raises
        ------
        UsageError
            What differs, and how.
        """
        if "unknown" not in (self.trim, other.trim) and self.trim != other.trim:
            own, theirs = (trim_text(one.trim) for one in (self, other))
            raise UsageError(f"the thresholds were made with `trim={own}`, which is not `trim={theirs}`; {AGAIN}")
        if self.names != other.names:
            raise UsageError(
                f"the thresholds were made with the references {', '.join(self.names)}, not {', '.join(other.names)}; "
                "use these, in this order, or make new thresholds with `sdtw calibrate`"
            )
        for one, that in zip(self.references, other.references, strict=True):
            self._check_reference(one, that)
        fact = self.reads.contradiction(other.reads)
        if fact is not None:
            raise UsageError(f"the thresholds were made with reads of {self.reads}, not of {other.reads}; {AGAIN}")

    def _check_reference(self, own: ReferenceFacts, other: ReferenceFacts) -> None:
        if (own.model, own.model_checksum) != (other.model, other.model_checksum):
            models = [f"{one.model} (checksum {one.model_checksum or 'unknown'})" for one in (own, other)]
            raise UsageError(
                f"the thresholds were made with the reference {own.name} by the model {models[0]}, not {models[1]}; "
                + AGAIN
            )
        if own != other:
            raise UsageError(
                f"the thresholds were made with another reference {own.name} (checksum {own.checksum}, not "
                f"{other.checksum}): its sequences, strands or levels differ; {AGAIN}"
            )


def reference_names(targets: Sequence[str], decoys: Sequence[str]) -> tuple[str, ...]:
    """Name references as thresholds do: several targets are one of all their names, with commas between them."""
    return (",".join(targets), *decoys)


def plain_trim(trim: TrimOptions | None) -> TrimOptions:
    """Return what leaves out the same samples, the same for all ways to say it."""
    if trim is None:
        return TrimOptions(stall=False, extra=0)
    return trim if trim.stall else TrimOptions(stall=False, extra=trim.extra)


def trim_text(trim: KnownTrim) -> str:
    """Return what the command line calls it, without spaces."""
    if trim == "unknown":
        return "unknown"
    plain = plain_trim(trim)
    if not plain.stall:
        return str(plain.extra or "none")
    usual = TrimOptions()
    if plain == usual:
        return "stall"
    values = [f"{name}={getattr(plain, name)}" for name in ("extra", "max_trim", "keep")]
    return f"stall({','.join(values)})"


def settled_trim(trim: Trim, basis: Basis | None, default: TrimOptions | None) -> TrimOptions | None:
    """Return how reads are to be trimmed.

    Parameters
    ----------
    trim : TrimOptions, None or 'thresholds'
        What was asked for.
    basis : Basis, optional
        Of the thresholds.
    default : TrimOptions, optional
        For thresholds that have none.

    Raises
    ------
    UsageError
        The thresholds are to say it, and do not know.
    """
    if trim != "thresholds":
        return trim
    if basis is None:
        return default
    if basis.trim == "unknown":
        raise UsageError("the thresholds do not say how the reads were trimmed that they were chosen by; give `trim`")
    return basis.trim


