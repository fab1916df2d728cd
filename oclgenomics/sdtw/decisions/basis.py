"""What scores depend on besides the options of alignments: the reads, how they were trimmed, and the references.

What reads say of themselves (pore, molecule, rate) is compared with what references and thresholds were made for."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, fields, replace
from typing import Any, Literal, TypeVar

import numpy as np

from oclgenomics import notices
from oclgenomics.errors import ParameterError, UsageError
from oclgenomics.sdtw.squiggles.opened import sequencing_for
from oclgenomics.sdtw.squiggles.squiggle import Squiggle
from oclgenomics.signals import Signals, TrimOptions
from oclgenomics.signals.chemistry import same_rate

Role = Literal["target", "decoy"]
KnownTrim = TrimOptions | None | Literal["unknown"]
"""How reads were trimmed; `unknown` for reads that somebody else read from their files."""
Trim = TrimOptions | None | Literal["thresholds"]
"""How reads are to be trimmed; `thresholds` as those were by which the thresholds were chosen."""
MAKE_ANEW = "make it anew by a model of these reads (`sdtw index`; it was made by the model {})"
AGAIN = "make new ones with `sdtw evaluate` or `sdtw calibrate`, or give their stages with `stages`"


@dataclass(frozen=True)
class ReadKind:
    """What reads are of, as far as it is known.

    Attributes
    ----------
    pore : str
        Family of the pore, one of `oclgenomics.signals.chemistry.PORES`, or empty.
    molecule : {'dna', 'rna', ''}
    rate : float, optional
        Samples per second.
    """

    pore: str = ""
    molecule: str = ""
    rate: float | None = None

    def __str__(self) -> str:
        return ", ".join(_shown(name, value) for name, value in _known(self).items()) or "unknown"

    def joined(self, other: ReadKind) -> ReadKind:
        """Return what is known of either; where both know something, this one's."""
        return replace(self, **{name: value for name, value in _known(other).items() if not getattr(self, name)})

    def contradiction(self, other: ReadKind) -> str | None:
        """Return the name of the first fact of which both know something, but not the same; None if there is none."""
        for name, value in _known(self).items():
            own = getattr(other, name)
            if own and not (same_rate(own, value) if name == "rate" else own == value):
                return name
        return None


UNKNOWN_KIND = ReadKind()


def kinds_of(signals: Signals) -> dict[ReadKind, str]:
    """Return what reads are of, each kind with the name of its first read, in their order."""
    facts = np.stack([signals.pore, signals.molecule, signals.rate.astype(object)], axis=1)
    first: dict[tuple[str, str, float | None], str] = {}
    for name, (pore, molecule, rate) in zip(signals.names.tolist(), facts.tolist(), strict=True):
        first.setdefault((pore, molecule, rate if rate == rate else None), name)
    return {ReadKind(*known): name for known, name in first.items()}


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


TrimT = TypeVar("TrimT", bound=Trim)


def trim_for(trim: TrimT, references: Sequence[Squiggle]) -> TrimT | TrimOptions:
    """Return how reads are to be trimmed: the usual trimming is that of the pore that references are for."""
    known = sequencing_for(references)
    return known.trim if known is not None and trim == TrimOptions() else trim


def settled_trim(
    trim: Trim, basis: Basis | None = None, default: TrimOptions | None = TrimOptions()
) -> TrimOptions | None:
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


class KindCheck:
    """Looks at reads before they are aligned.

    Parameters
    ----------
    references : sequence of Squiggle
    thresholds : ReadKind, optional
        Of the reads by which the thresholds were chosen.
    warn : bool
        Tell what reads do not say.

    Attributes
    ----------
    kind : ReadKind
        What the reads so far say.
    """

    def __init__(
        self, references: Sequence[Squiggle], thresholds: ReadKind | None = None, *, warn: bool = True
    ) -> None:
        self.kind = UNKNOWN_KIND
        self._expected = [
            (
                ReadKind(one.pore, one.molecule, one.rate),
                f"the reference {one.name} is for",
                MAKE_ANEW.format(one.model),
            )
            for one in references
        ]
        if thresholds is not None:
            remedy = "make new thresholds with `sdtw evaluate`"
            self._expected.append((thresholds, "the thresholds were chosen by reads of", remedy))
        self._model, self._warn = references[0].model, warn

    def checked(self, blocks: Iterable[Signals]) -> Iterator[Signals]:
        """Yield blocks of reads as they come, each after a look at it; see `see`."""
        for block in blocks:
            self.see(block)
            yield block

    def see(self, signals: Signals) -> None:
        """Look at reads.

        Raises
        ------
        UsageError
            A read is of another pore or molecule, or has another rate, than the references are for, than the reads by
            which the thresholds were chosen, or than the reads before it.
        """
        self.see_kinds(kinds_of(signals))

    def see_kinds(self, kinds: Mapping[ReadKind, str]) -> None:
        """Look at what reads are of; see `kinds_of` and `see`."""
        for kind, name in kinds.items():
            self._see_one(kind, name)

    def _see_one(self, kind: ReadKind, name: str) -> None:
        for expected, words, remedy in self._expected:
            fact = kind.contradiction(expected)
            if fact is not None:
                own, other = (_shown(fact, getattr(one, fact)) for one in (kind, expected))
                raise UsageError(f"read {name} is of {own}, but {words} {other}; {remedy}")
        fact = kind.contradiction(self.kind)
        if fact is not None:
            own, other = (_shown(fact, getattr(one, fact)) for one in (kind, self.kind))
            raise UsageError(
                f"read {name} is of {own}, but reads before it of {other}; give reads of one kind at a time"
            )
        self.kind = self.kind.joined(kind)
        if self._warn:
            self._tell_unknown(kind)

    def _tell_unknown(self, kind: ReadKind) -> None:
        expected = UNKNOWN_KIND
        for one, _, _ in self._expected:
            expected = expected.joined(one)
        silent = [fact for fact in ("pore", "rate") if getattr(expected, fact) and not getattr(kind, fact)]
        if silent:
            wanted = " and ".join(_shown(fact, getattr(expected, fact)) for fact in silent)
            lack = " and ".join({"pore": "pore", "rate": "sampling rate"}[fact] for fact in silent)
            notices.tell_once(f"reads do not say their {lack}: taken to be of {wanted}, as the reference is for")
        if kind.pore and not expected.pore:
            notices.tell_once(
                f"the model {self._model} does not say for which pore it is, and reads are of {kind.pore}: make sure "
                "that it is theirs, and say so with `sdtw index --pore`"
            )


def check_rate(asked: float, known: float) -> None:
    """Refuse a run of reads at another rate than theirs, since its times would be others.

    Raises
    ------
    ParameterError
    """
    if not same_rate(asked, known):
        raise ParameterError("rate", f"the reads are of {_shown('rate', known)}; leave it out", asked)


def _known(kind: ReadKind) -> dict[str, Any]:
    return {field.name: getattr(kind, field.name) for field in fields(ReadKind) if getattr(kind, field.name)}


def _shown(fact: str, value: Any) -> str:
    if fact == "rate":
        return f"{value:,g} samples per second"
    return f"{value} pores" if fact == "pore" else str(value).upper()
