"""Samples, signatures and options that methods are tested on."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from hypothesis import strategies as st

from helpers.signature_matches import check_pairs, check_starts, expected_matches
from helpers.signature_samples import SampleRecord, random_letters, sample_letters
from oclgenomics.runtime import Engine
from oclgenomics.signatures.device.pairs import FoundPairs, FoundStarts
from oclgenomics.signatures.device.patterns import DevicePatterns
from oclgenomics.signatures.options import ScanOptions
from oclgenomics.signatures.panels.panel import Panel

__all__ = ["SPECIAL", "Case", "cases", "check_case"]

IUPAC = "ACGTMRWSYKVHDBN"
OPTIONS = [  # few, as each kind makes kernels of its own
    ScanOptions(),
    ScanOptions(min_informative=0.5, min_score=40),
    ScanOptions(max_mismatches=1, min_informative=0.1),
    ScanOptions(max_mismatches=2),
    ScanOptions(max_mismatches=3, min_informative=0.9),
    ScanOptions(max_mismatches=4),
    ScanOptions(max_mismatches=7, min_score=45),
]


@dataclass(frozen=True)
class Case:
    """Samples and signatures, and how to compare them."""

    samples: list[SampleRecord]
    signatures: list[bytes]
    options: ScanOptions = field(default_factory=ScanOptions)
    piece: int | None = None

    def panel(self) -> Panel:
        """The signatures as a panel."""
        return Panel.from_signatures((f"s{number}", letters) for number, letters in enumerate(self.signatures))


def _mutate(rng: np.random.Generator, letters: bytes, rate: float, alphabet: str) -> bytes:
    """Replace letters at a rate."""
    text = np.frombuffer(letters, np.uint8).copy()
    at = rng.random(len(text)) < rate
    text[at] = np.frombuffer(random_letters(rng, int(at.sum()), 0.3, alphabet), np.uint8)
    return text.tobytes()


def _qualities(rng: np.random.Generator, size: int) -> bytes:
    return (rng.integers(0, 94, size) + 33).astype(np.uint8).tobytes()


@st.composite
def cases(draw: Any, longest: int = 400) -> Case:
    """Draw random samples with copies of the signatures in them, changed here and there."""
    rng = np.random.default_rng(draw(st.integers(0, 1 << 32)))
    alphabet = draw(st.sampled_from(["ACGT", "ACGT", "A", "AC", IUPAC]))
    signatures = _draw_signatures(draw, rng, alphabet, longest)
    options = draw(st.sampled_from(OPTIONS))
    has_qualities = draw(st.booleans()) if options.min_score == 0 else True
    sample_ns = draw(st.sampled_from([0.0, 0.1, 0.6]))
    samples = []
    for _ in range(draw(st.integers(0, 4))):
        most = draw(st.sampled_from([5, 600, 1500]))
        letters = random_letters(rng, int(rng.integers(0, most + 1)), sample_ns, alphabet)
        for _ in range(draw(st.integers(0, 3))):
            copy = _mutate(rng, signatures[rng.integers(len(signatures))], draw(st.sampled_from([0.0, 0.02])), alphabet)
            at = int(rng.integers(0, len(letters) + 1))
            letters = letters[:at] + copy + letters[at:]
        samples.append(SampleRecord(letters, _qualities(rng, len(letters)) if has_qualities else None))
    return Case(samples, signatures, options, draw(st.sampled_from([None, 100, 513])))


def _draw_signatures(draw: Any, rng: np.random.Generator, alphabet: str, longest: int) -> list[bytes]:
    """Draw signatures that have nothing to do with each other, or that are nearly the same."""
    n_rate, same = draw(st.sampled_from([0.0, 0.1, 0.6])), draw(st.booleans())
    signatures: list[bytes] = []
    for _ in range(draw(st.integers(1, 6))):
        most = draw(st.sampled_from([4, 40, longest]))
        letters = random_letters(rng, int(rng.integers(1, most + 1)), n_rate, alphabet)
        signatures.append(_mutate(rng, signatures[0], 0.02, alphabet) if same and signatures else letters)
    return signatures


def _special() -> dict[str, Case]:
    """Make cases in which methods do what they do rarely."""
    rng = np.random.default_rng(3)
    long = random_letters(rng, 10_000, 0.1)
    same = random_letters(rng, 100)
    twins = [_mutate(rng, same, 0.01, "ACGT") for _ in range(300)]
    edges = [b"A", b"N", b"ACGT" * 16, b"NNNA", b"ANNN", b"N" * 300, b"A" * 513, random_letters(rng, 512)]
    flat = b"I" * 3000

    def scored(letters: bytes) -> SampleRecord:
        return SampleRecord(letters, _qualities(rng, len(letters)))

    return {
        "nothing": Case([], [b"ACGT"]),
        "empty samples": Case([scored(b""), scored(b"ACGT"), scored(b"")], [b"ACGT", b"ACGTA"]),
        "edges": Case([scored(letters) for letters in edges], edges),
        "edges with mismatches": Case([scored(letters) for letters in edges], edges, ScanOptions(max_mismatches=7)),
        "all N": Case([scored(b"N" * 700)], [same, b"N" * 100], ScanOptions(max_mismatches=2)),
        "filters refuse N": Case(
            [scored(b"N" * 700), scored(b"ACGN" * 100)],
            [same, b"N" * 60, b"ACGN" * 20, b"ACGT" * 20],
            ScanOptions(min_informative=0.5),
        ),
        "one letter": Case([scored(b"A" * 1100)], [b"A" * 64, b"A" * 65, b"AN" * 40], ScanOptions(min_score=46)),
        "repeats": Case([scored(b"GATTACA" * 200)], [b"GATTACA" * 9, b"ACAGATT", b"NAT"]),
        "ties": Case([SampleRecord(b"ACGT" * 750, flat)], [b"ACGT" * 5, b"CGTAC"], ScanOptions(max_mismatches=3)),
        "near-identical": Case([scored(same + twins[7] + same)], [same, *twins], ScanOptions(max_mismatches=1)),
        "long": Case([scored(random_letters(rng, 700) + long + same + long), scored(long)], [long, long[1:], same]),
        "every length": Case(
            [scored(_mutate(rng, long[:1500], 0.01, IUPAC))],
            [long[at : at + size] for at, size in enumerate([*range(1, 131, 3), 255, 256, 257, 511, 512, 513])],
            ScanOptions(max_mismatches=1),
        ),
        "all letters": Case(
            [scored(random_letters(rng, 2000, 0.0, IUPAC))], [random_letters(rng, 30, 0, IUPAC) for _ in range(40)]
        ),
        "no qualities": Case([SampleRecord(long[:2000])], [long[500:600], b"AC"]),
    }


SPECIAL = _special()


def check_case(
    case: Case,
    engine: Engine,
    make: Callable[..., Any],
    which: list[int] | None = None,
    wanted: list[bool] | None = None,
    **parameters: Any,
) -> None:
    """Compare all that a method finds with the oracle."""
    panel = case.panel()
    overlap = int(panel.lengths.max()) - 1
    samples = sample_letters(engine, case.samples, piece=case.piece, overlap=overlap)
    patterns = panel.patterns("both")
    wanted_pieces = None if wanted is None else np.resize(np.array(wanted), len(samples.block.pieces))
    expected = expected_matches(samples, patterns, case.options, which, wanted_pieces)
    uploaded = DevicePatterns.upload(engine, patterns, case.options)
    matcher = make(engine, uploaded, None if which is None else np.array(which), **parameters)
    pairs: FoundPairs = matcher.pairs(samples, wanted_pieces)
    check_pairs(pairs, expected)
    starts: list[FoundStarts] = list(matcher.starts(samples, pairs))
    check_starts(starts, expected)
