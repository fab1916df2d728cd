"""Samples and signatures that match with edits, and the rows that a scan for them gives by the oracle."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from helpers.signature_matches import match_record, places
from helpers.signature_samples import random_letters
from oclgenomics.signatures import ScanOptions, reference

__all__ = ["edited", "expected_rows", "make_reads", "make_texts"]

Named = tuple[str, str, str | None]  # name, letters and qualities


def edited(rng: np.random.Generator, text: str, edits: int, alphabet: str = "ACGTN") -> str:
    """Substitute, insert and delete letters at random."""
    letters = list(text)
    for _ in range(edits):
        kind, letter = int(rng.integers(3)), str(rng.choice(list(alphabet)))
        at = int(rng.integers(0, len(letters) + 1))
        letters[at : at + (kind != 1)] = [] if kind == 2 else [letter]
    return "".join(letters)


def make_texts(rng: np.random.Generator, alphabet: str, longest: int) -> list[str]:
    """Signatures, some of them alike."""
    texts: list[str] = []
    for _ in range(int(rng.integers(1, 5))):
        size = int(rng.integers(1, rng.choice([6, 60, longest]) + 1))
        text = random_letters(rng, size, float(rng.choice([0, 0.1, 0.5])), alphabet).decode()
        texts.append(edited(rng, texts[0], 2) or "A" if texts and rng.random() < 0.3 else text)
    return texts


def make_reads(
    rng: np.random.Generator, texts: Sequence[str], alphabet: str, max_edits: int, *, qualities: bool
) -> list[Named]:
    """Samples of random lengths with signatures in them, on both strands and edited up to once too often."""
    reads = []
    for number in range(int(rng.integers(1, 5))):
        size = int(rng.choice([0, 1, 20, 150, 400]))
        letters = random_letters(rng, size, float(rng.choice([0, 0.1, 0.5])), alphabet).decode()
        for _ in range(int(rng.integers(0, 4))):
            copy = edited(rng, texts[int(rng.integers(len(texts)))], int(rng.integers(0, max_edits + 2)))
            copy = copy[::-1].translate(str.maketrans("ACGT", "TGCA")) if rng.random() < 0.3 else copy
            at = int(rng.integers(0, len(letters) + 1))
            letters = letters[:at] + copy + letters[at:]
        best = int(rng.choice([34, 127]))  # ties of means are common if there are two qualities only
        scores = rng.integers(33, best + 1 if best < 127 else best, len(letters)).astype(np.uint8).tobytes().decode()
        reads.append((f"s{number}", letters, scores if qualities else None))
    return reads


def expected_rows(reads: Sequence[Named], texts: Sequence[str], options: ScanOptions) -> list[dict[str, Any]]:
    """What `ScanResult.records` gives; signatures are named p0, p1 ..."""
    rows = []
    for sample, (name, letters, qualities) in enumerate(reads, 1):
        for number, text in enumerate(texts):
            for strand in "+-" if options.strand == "both" else options.strand:
                found = places(
                    letters, qualities, text, strand=strand, max_edits=options.max_edits,
                    min_informative=options.min_informative, min_score=options.min_score,
                )  # fmt: skip
                if not found:
                    continue
                chosen = {"best": [reference.best(found)], "first": found[:1], "all": found}[options.report]
                hits = 1 if options.report == "all" else len(found)
                rows += [match_record(match, f"p{number}", hits, sample, name, qualities) for match in chosen]
    return rows
