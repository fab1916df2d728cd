"""Sums over the letters under each match: what is told of it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from oclgenomics.runtime import DeviceArray, Engine
from oclgenomics.signatures.device.found import FoundStarts
from oclgenomics.signatures.device.patterns import DevicePatterns
from oclgenomics.signatures.device.samples import SampleLetters
from oclgenomics.signatures.options import BEST_QUALITY
from oclgenomics.signatures.reference import error_units

__all__ = ["MatchFacts", "describe", "describe_spans"]

FACTS = 6
MATCHES = 1 << 18  # described at a time
GPU_LANES = 64
CPU_LANES = 16


@dataclass(frozen=True)
class MatchFacts:
    """What is told of matches; arrays of one length.

    Attributes
    ----------
    quality_sum : ndarray, uint64
        0 without qualities.
    mismatches, informative, sample_ns, pattern_ns : ndarray, int64
    error_units : ndarray, uint64
        Expected errors in units of 2^-32; 0 without qualities.
    """

    quality_sum: NDArray[np.uint64]
    mismatches: NDArray[np.int64]
    informative: NDArray[np.int64]
    sample_ns: NDArray[np.int64]
    pattern_ns: NDArray[np.int64]
    error_units: NDArray[np.uint64]


def describe(engine: Engine, samples: SampleLetters, patterns: DevicePatterns, found: FoundStarts) -> MatchFacts:
    """Return the facts of matches in a block."""
    under = {"sets": patterns.sets, "offsets": patterns.offsets}
    return _describe(engine, samples, under, piece=found.piece, pattern=found.pattern, start=found.start)


def describe_spans(
    engine: Engine,
    samples: SampleLetters,
    piece: NDArray[np.integer[Any]],
    start: NDArray[np.integer[Any]],
    end: NDArray[np.integer[Any]],
) -> MatchFacts:
    """Return the facts of letters start .. end - 1 of pieces of a block, in which nothing is compared with a pattern.

    `mismatches`, `informative` and `pattern_ns` are 0.
    """
    return _describe(engine, samples, None, piece=piece, start=start, end=end)


def _describe(
    engine: Engine,
    samples: SampleLetters,
    patterns: dict[str, DeviceArray] | None,
    **columns: NDArray[np.integer[Any]],
) -> MatchFacts:
    """Describe some matches at a time."""
    parts = [np.empty((0, FACTS), np.uint64)]
    units = engine.upload(np.array([error_units(quality) for quality in range(BEST_QUALITY + 1)], np.uint64))
    for begin in range(0, len(columns["piece"]), MATCHES):
        lot = {name: column[begin : begin + MATCHES].astype(np.uint32) for name, column in columns.items()}
        parts.append(_facts(engine, samples, patterns, units, lot))
    facts = np.concatenate(parts)
    mismatches, informative, sample_ns, pattern_ns = facts[:, 1:5].astype(np.int64).T
    return MatchFacts(facts[:, 0], mismatches, informative, sample_ns, pattern_ns, facts[:, 5])


def _facts(
    engine: Engine,
    samples: SampleLetters,
    patterns: dict[str, DeviceArray] | None,
    units: DeviceArray,
    lot: dict[str, NDArray[np.uint32]],
) -> NDArray[np.uint64]:
    """Return the facts of some matches, at least one, uint64 (matches, FACTS)."""
    cpu, matches = engine.tuning.cpu, len(lot["piece"])
    lanes = CPU_LANES if cpu else engine.group_size(GPU_LANES)
    defines = {"CPU": cpu, "LANES": lanes, "QUALITIES": samples.has_qualities, "PATTERNS": patterns is not None}
    facts = engine.empty((matches, FACTS), np.uint64)
    on_device = {name: engine.upload(column) for name, column in lot.items()}
    engine.launch(
        engine.kernel("signatures/describe.cl", "describe_matches", **defines),
        (-(-matches // lanes) * lanes if cpu else matches * lanes,),
        (lanes,),
        **samples.block.text.place,
        **({"sets": None, "offsets": None} if patterns is None else patterns),
        codes=samples.codes,
        letters=samples.letters,
        qualities=samples.qualities,
        pieces=on_device["piece"],
        patterns=on_device.get("pattern"),
        starts=on_device["start"],
        ends=on_device.get("end"),
        matches=matches,
        units=units,
        facts=facts,
    )
    return engine.download(facts)
