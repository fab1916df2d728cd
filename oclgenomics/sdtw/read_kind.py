"""What reads say of themselves (pore, molecule, rate), compared with what references and thresholds were made for."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, fields, replace
from typing import Any

import numpy as np

from oclgenomics import notices
from oclgenomics.errors import ParameterError, UsageError
from oclgenomics.sdtw.squiggles.squiggle import Squiggle
from oclgenomics.signals import Signals
from oclgenomics.signals.chemistry import same_rate

__all__ = ["UNKNOWN_KIND", "KindCheck", "ReadKind", "check_rate"]


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
        self._expected = [(_of_model(one), f"the reference {one.name} is for", _remedy(one)) for one in references]
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
        facts = np.stack([signals.pore, signals.molecule, signals.rate.astype(object)], axis=1)
        first: dict[tuple[str, str, float | None], int] = {}
        for number, (pore, molecule, rate) in enumerate(facts.tolist()):
            first.setdefault((pore, molecule, rate if rate == rate else None), number)
        for known, number in first.items():
            self._see_one(ReadKind(*known), signals.names[number])

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


def _of_model(reference: Squiggle) -> ReadKind:
    return ReadKind(reference.pore, reference.molecule, reference.rate)


def _remedy(reference: Squiggle) -> str:
    return f"make it anew by a model of these reads (`sdtw index`; it was made by the model {reference.model})"


def _known(kind: ReadKind) -> dict[str, Any]:
    return {field.name: getattr(kind, field.name) for field in fields(ReadKind) if getattr(kind, field.name)}


def _shown(fact: str, value: Any) -> str:
    if fact == "rate":
        return f"{value:,g} samples per second"
    return f"{value} pores" if fact == "pore" else str(value).upper()
