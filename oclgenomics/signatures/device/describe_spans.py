"""What is told of the letters of matches whose lengths differ from their patterns'."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from oclgenomics.runtime import Engine
from oclgenomics.signatures.device.samples import SampleLetters
from oclgenomics.signatures.options import BEST_QUALITY
from oclgenomics.signatures.reference import error_units

__all__ = ["describe_spans"]

AT_ONCE = 1 << 18
GPU_LANES = 64
CPU_LANES = 16


def describe_spans(
    engine: Engine,
    samples: SampleLetters,
    piece: NDArray[np.int64],
    start: NDArray[np.int64],
    end: NDArray[np.int64],
) -> tuple[NDArray[np.int64], NDArray[np.uint64]]:
    """Return the Ns and the expected errors, in units of 2^-32, of letters start .. end - 1 of pieces of a block.

    Returns
    -------
    sample_ns : ndarray, int64
    error_units : ndarray, uint64
        0 without qualities.
    """
    parts = [np.empty((0, 2), np.uint64)]
    for begin in range(0, len(piece), AT_ONCE):
        lot = slice(begin, begin + AT_ONCE)
        parts.append(_facts(engine, samples, piece[lot], start[lot], end[lot]))
    facts = np.concatenate(parts)
    return facts[:, 0].astype(np.int64), facts[:, 1]


def _facts(
    engine: Engine,
    samples: SampleLetters,
    piece: NDArray[np.int64],
    start: NDArray[np.int64],
    end: NDArray[np.int64],
) -> NDArray[np.uint64]:
    """The same for some matches, at least one; uint64 (matches, 2)."""
    cpu, matches = engine.tuning.cpu, len(piece)
    lanes = CPU_LANES if cpu else engine.group_size(GPU_LANES)
    defines = {"CPU": cpu, "LANES": lanes, "QUALITIES": samples.has_qualities}
    facts = engine.empty((matches, 2), np.uint64)
    engine.launch(
        engine.kernel("signatures/describe_spans.cl", "describe_spans", **defines),
        (-(-matches // lanes) * lanes if cpu else matches * lanes,),
        (lanes,),
        **samples.block.text.place,
        codes=samples.codes,
        letters=samples.letters,
        qualities=samples.qualities,
        pieces=engine.upload(piece.astype(np.uint32)),
        starts=engine.upload(start.astype(np.uint32)),
        ends=engine.upload(end.astype(np.uint32)),
        matches=matches,
        units=engine.upload(np.array([error_units(quality) for quality in range(BEST_QUALITY + 1)], np.uint64)),
        facts=facts,
    )
    return engine.download(facts)
