"""What methods find in a block of samples, beside what the oracle finds."""

from __future__ import annotations

import functools
from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np

from oclgenomics.signatures import reference
from oclgenomics.signatures.device.pairs import FoundPairs, FoundStarts
from oclgenomics.signatures.device.samples import SampleLetters
from oclgenomics.signatures.options import ScanOptions
from oclgenomics.signatures.panels.letters import LETTERS
from oclgenomics.signatures.panels.panel import Patterns

__all__ = ["Expected", "check_pairs", "check_starts", "expected_matches", "match_record", "matches", "places"]

# Several methods, and kernels of several kinds, are compared with the oracle in the same examples.
matches = functools.lru_cache(4096)(reference.matches)
places = functools.lru_cache(4096)(reference.places)

Expected = dict[tuple[int, int], tuple[list[reference.Match], reference.Match]]  # of a piece and a pattern: all, best


def expected_matches(
    samples: SampleLetters,
    patterns: Patterns,
    options: ScanOptions,
    which: Sequence[int] | None = None,
    pieces: Sequence[bool] | None = None,
) -> Expected:
    """Return the oracle's matches of pieces and patterns (all if not given), in order."""
    chosen = np.arange(len(samples.block.pieces)) if pieces is None else np.flatnonzero(pieces)
    found: Expected = {}
    for piece in chosen.tolist():
        letters, qualities, owned = _piece(samples, piece)
        for pattern in range(len(patterns)) if which is None else sorted(set(which)):
            signature = "".join(LETTERS[bases] for bases in patterns.of(pattern))
            least = options.min_informative, options.min_score
            every = _matches_of(letters, qualities, owned, signature, options.max_mismatches, *least)
            if every is not None:
                found[piece, pattern] = every
    return found


@functools.lru_cache(4096)
def _matches_of(
    letters: str, qualities: str | None, owned: int, signature: str, mismatches: int, informative: float, score: float
) -> tuple[list[reference.Match], reference.Match] | None:
    """All matches of a pattern that a piece owns, if any, and the best of them."""
    found = reference.matches(
        letters, qualities, signature, max_mismatches=mismatches, min_informative=informative, min_score=score
    )
    found = [match for match in found if match.start < owned]
    return (found, reference.best(found)) if found else None


def _piece(samples: SampleLetters, piece: int) -> tuple[str, str | None, int]:
    """Letters and qualities of a piece, and how many of them it owns."""
    pieces, host = samples.block.pieces, samples.block.host
    size = int(pieces.size[piece])
    letters = host[int(pieces.letters[piece]) :][:size].tobytes().decode()
    owned = int(pieces.owned[piece])
    if pieces.qualities is None:
        return letters, None, owned
    return letters, host[int(pieces.qualities[piece]) :][:size].tobytes().decode(), owned


def check_pairs(found: FoundPairs, expected: Expected) -> None:
    """Compare pairs with the oracle's matches."""
    rows = zip(found.piece, found.pattern, found.hits, found.first, found.best, strict=True)
    assert [tuple(map(int, row)) for row in rows] == [
        (*pair, len(every), every[0].start, best.start) for pair, (every, best) in expected.items()
    ]
    assert {getattr(found, name).dtype for name in ("piece", "pattern", "hits", "first", "best")} == {np.dtype("u4")}


def check_starts(parts: Iterable[FoundStarts], expected: Expected) -> None:
    """Compare starts with the oracle's matches."""
    rows = [tuple(map(int, row)) for part in parts for row in zip(part.piece, part.pattern, part.start, strict=True)]
    assert rows == [(*pair, match.start) for pair, (every, _) in expected.items() for match in every]


def match_record(
    match: reference.Match, signature: str, hits: int, number: int, name: str, qualities: str | None
) -> dict[str, Any]:
    """Return what the records of a result tell of a match in a sample, which is counted from 1."""
    known = qualities is not None
    return {
        "sample": name,
        "signature": signature,
        "strand": match.strand,
        "start": match.start,
        "end": match.end,
        "hits": hits,
        "mismatches": match.mismatches,
        "score": (match.quality_sum or 0) / (match.end - match.start) if known else None,
        "informative": match.informative,
        "sample_ns": match.sample_ns,
        "signature_ns": match.signature_ns,
        "expected_errors": reference.expected_errors(match.error_units or 0) if known else None,
        "hash": None if qualities is None else reference.quality_hash(qualities),
        "sample_number": number,
    }
