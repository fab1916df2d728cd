"""Launch every kernel family on tiny inputs, to be run under oclgrind, which watches each memory access.

    oclgrind --data-races --uninitialized --build-options -cl-opt-disable --log FILE python tests/smoke_oclgrind.py

oclgrind simulates some 400,000 instructions a second: keep inputs to a few dozen items.
"""

from __future__ import annotations

import sys
import time
from collections.abc import Callable

import numpy as np

from oclgenomics.runtime import Engine


def common(engine: Engine) -> None:
    """Hashes, bit helpers, population counts with and without vectors, and the probes of traits."""
    size = np.uint32(20)
    key = np.uint64(0x0706050403020100), np.uint64(0x0F0E0D0C0B0A0908)
    data = engine.upload(np.arange(200, dtype=np.uint8))
    offsets = engine.upload(np.arange(0, 201, 10, dtype=np.uint64)[:21])
    hashes = engine.empty(20, np.uint64)
    engine.launch(engine.kernel("common/hash.cl", "hash_strings"), (32,), (16,), data, offsets, *key, size, hashes)
    numbers = engine.upload(np.arange(20, dtype=np.uint64))
    engine.launch(engine.kernel("common/hash.cl", "hash_numbers"), (32,), (16,), numbers, *key, size, hashes)
    engine.download(hashes)
    words = engine.upload(np.arange(33, dtype=np.uint64))
    for width in (1, 4, 16):
        for builtin in (0, 1):
            defines = {"VW": width, "BUILTIN_POPCOUNT": builtin}
            bits = engine.empty((32, 5), np.uint64)
            engine.launch(engine.kernel("common/probe_bits.cl", "probe_bits", **defines), (32,), (16,), words, bits)
            counts = engine.empty(32, np.uint32)
            kernel = engine.kernel("common/probe_bits.cl", "probe_vectors", **defines)
            engine.launch(kernel, (32 // width,), None, words, counts)
            engine.download(bits)
            engine.download(counts)


FAMILIES: tuple[Callable[[Engine], None], ...] = (common,)


def main() -> int:
    """Run all families on the simulator."""
    with Engine() as engine:
        if engine.device.family != "oclgrind":
            print(f"this is {engine.device}: run the script under oclgrind", file=sys.stderr)
            return 2
        for family in FAMILIES:
            start = time.perf_counter()
            family(engine)
            engine.finish()
            print(f"{family.__name__}: {time.perf_counter() - start:.1f} s")
    return 0


if __name__ == "__main__":
    sys.exit(main())
