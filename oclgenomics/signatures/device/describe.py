"""Sums over the letters under each match: what is told of it."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from oclgenomics.runtime import DeviceArray, Engine
from oclgenomics.signatures.device.found import FoundStarts
from oclgenomics.signatures.device.patterns import DevicePatterns
from oclgenomics.signatures.device.samples import SampleLetters
from oclgenomics.signatures.options import BEST_QUALITY
from oclgenomics.signatures.reference import error_units

__all__ = ["MatchFacts", "describe"]

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
    parts = [
        _facts(engine, samples, patterns, found.part(begin, begin + MATCHES))
        for begin in range(0, max(len(found), 1), MATCHES)
    ]
    facts = np.concatenate(parts)
    mismatches, informative, sample_ns, pattern_ns = facts[:, 1:5].astype(np.int64).T
    return MatchFacts(facts[:, 0], mismatches, informative, sample_ns, pattern_ns, facts[:, 5])


def _facts(engine: Engine, samples: SampleLetters, patterns: DevicePatterns, found: FoundStarts) -> NDArray[np.uint64]:
    """Return the facts of some matches, uint64 (matches, FACTS)."""
    matches = len(found)
    if not matches:
        return np.empty((0, FACTS), np.uint64)
    cpu = engine.tuning.cpu
    lanes = CPU_LANES if cpu else engine.group_size(GPU_LANES)
    defines = {"CPU": cpu, "LANES": lanes, "QUALITIES": samples.has_qualities}
    kernel = engine.kernel("signatures/describe.cl", "describe_matches", **defines)
    facts = engine.empty((matches, FACTS), np.uint64)
    items = -(-matches // lanes) * lanes if cpu else matches * lanes
    engine.launch(
        kernel,
        (items,),
        (lanes,),
        **samples.block.text.place,
        codes=samples.codes,
        letters=samples.letters,
        qualities=samples.qualities,
        sets=patterns.sets,
        offsets=patterns.offsets,
        pieces=engine.upload(found.piece),
        patterns=engine.upload(found.pattern),
        starts=engine.upload(found.start),
        matches=matches,
        units=_units(engine),
        facts=facts,
    )
    return engine.download(facts)


def _units(engine: Engine) -> DeviceArray:
    """Expected errors by quality."""
    return engine.upload(np.array([error_units(quality) for quality in range(BEST_QUALITY + 1)], np.uint64))
