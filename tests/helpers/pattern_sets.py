"""Panels and samples for the methods that find patterns, and what the oracle finds in them."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from helpers.signature_matches import matches
from oclgenomics.runtime import Engine
from oclgenomics.signatures.device.pairs import FoundPairs
from oclgenomics.signatures.device.patterns import DevicePatterns
from oclgenomics.signatures.device.samples import SampleLetters
from oclgenomics.signatures.options import ScanOptions
from oclgenomics.signatures.panels.letters import IUPAC
from oclgenomics.signatures.panels.panel import Panel
from oclgenomics.signatures.reference import best

__all__ = ["cut_from", "expected_pairs", "on_device", "same_pairs"]


def on_device(engine: Engine, signatures: Sequence[bytes], options: ScanOptions = ScanOptions()) -> DevicePatterns:
    """Bring patterns to a device."""
    panel = Panel.from_signatures((f"s{number}", letters) for number, letters in enumerate(signatures))
    return DevicePatterns.upload(engine, panel.patterns(options.strand), options)


def cut_from(rng: np.random.Generator, sample: bytes, size: int, change: float, n_rate: float) -> bytes:
    """Cut a signature out of a sample; some letters become others of IUPAC, and some N."""
    begin = int(rng.integers(0, max(1, len(sample) - size + 1)))
    letters = np.frombuffer(sample[begin : begin + size], np.uint8).copy()
    changed = rng.random(len(letters)) < change
    letters[changed] = rng.choice(np.frombuffer("".join(IUPAC).encode(), np.uint8), int(changed.sum()))
    letters[rng.random(len(letters)) < n_rate] = ord("N")
    return letters.tobytes() or b"N"


def expected_pairs(
    samples: SampleLetters, signatures: Sequence[bytes], options: ScanOptions = ScanOptions()
) -> dict[tuple[int, int], tuple[int, int, int]]:
    """Return (hits, first, best) of each pair of a piece and a pattern that match."""
    pieces, host = samples.block.pieces, samples.block.host
    found = {}
    strands = [options.strand] if options.strand != "both" else ["+", "-"]
    patterns = [(letters.decode(), strand) for strand in strands for letters in signatures]
    for piece in range(len(pieces)):
        begin, size = int(pieces.letters[piece]), int(pieces.size[piece])
        letters, qualities = host[begin : begin + size].tobytes().decode(), None
        if pieces.qualities is not None:
            begin = int(pieces.qualities[piece])
            qualities = host[begin : begin + size].tobytes().decode()
        for number, (pattern, strand) in enumerate(patterns):
            every = matches(
                letters,
                qualities,
                pattern,
                strand=strand,
                max_mismatches=options.max_mismatches,
                min_informative=options.min_informative,
                min_score=options.min_score,
            )
            every = [match for match in every if match.start < pieces.owned[piece]]
            if every:
                first = min(match.start for match in every)
                found[piece, number] = (len(every), first, best(every).start)
    return found


def same_pairs(found: FoundPairs, expected: dict[tuple[int, int], tuple[int, int, int]]) -> None:
    """Check pairs against those of the oracle, and their order."""
    keys = list(zip(found.piece.tolist(), found.pattern.tolist(), strict=True))
    values = list(zip(found.hits.tolist(), found.first.tolist(), found.best.tolist(), strict=True))
    assert keys == sorted(expected)
    assert dict(zip(keys, values, strict=True)) == expected
