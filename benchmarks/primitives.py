"""Scans, sorts and their like on the device, compared with NumPy on the host, and their share of the copy rate.

    python benchmarks/primitives.py [--device gpu] [--items 67108864] [--repeat 5] [--only TEXT] [--json FILE]

Items lie in device memory before and after. Rates are those of the median of --repeat runs, with the least and the most
next to it. `of copy` is the least memory traffic of the items over the rate of a plain copy. NumPy works on the same
items on the host, with one thread.
"""

from __future__ import annotations

import argparse
import sys
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
from measure import best_time, copy_rate, machine, table, write_json

from oclgenomics.primitives import compact, merge, partition, run_lengths, scan, sort
from oclgenomics.runtime import DeviceArray, Engine, select_device

SEED = 7
BLOCK = 1 << 22  # random items made on the host; the rest repeats them
COPIES = 8  # of each key, for the runs


@dataclass(frozen=True)
class Case:
    """One primitive: what it needs, made afresh for each run; what is timed; NumPy's way; bytes an item."""

    name: str
    prepare: Callable[[], tuple[Any, ...]]
    run: Callable[..., object]
    host: Callable[[np.ndarray], object] | None
    host_items: np.ndarray | None
    item_bytes: float


def random_array(engine: Engine, items: int, dtype: type, bits: int) -> DeviceArray:
    """Random numbers of so many bits on the device."""
    array = engine.empty(items, dtype)
    block = np.random.default_rng(SEED).integers(0, 1 << bits, min(BLOCK, items), np.uint64).astype(dtype)
    for offset in range(0, items, len(block)):
        engine.write(array, block[: items - offset], offset)
    return array


def cases(engine: Engine, items: int) -> Iterator[Case]:
    """All primitives."""
    sample = np.random.default_rng(SEED).integers(0, 1 << 62, min(items, BLOCK), np.uint64)
    for dtype in (np.uint32, np.uint64):
        size = np.dtype(dtype).itemsize
        source, out = engine.empty(items, dtype), engine.empty(items, dtype)
        engine.fill(source, 1)
        yield Case(
            f"scan {size * 8}-bit sums",
            lambda source=source, out=out: (source, out),
            lambda source, out: scan(engine, source, out=out),
            np.cumsum,
            sample.astype(dtype),
            2 * size,
        )
        del source, out
    for name, dtype, bits, value in (
        ("sort 32-bit keys", np.uint32, 32, None),
        ("sort 64-bit keys, 42 bits", np.uint64, 42, None),
        ("sort 64-bit keys, 62 bits", np.uint64, 62, None),
        ("sort 64-bit keys, 42 bits, 32-bit values", np.uint64, 42, np.uint32),
    ):
        size = np.dtype(dtype).itemsize + (0 if value is None else 4)
        yield Case(
            name,
            lambda dtype=dtype, bits=bits, value=value: (
                random_array(engine, items, dtype, bits),
                None if value is None else engine.empty(items, value),
            ),
            lambda keys, values, bits=bits: sort(engine, keys, values, bits=bits),
            np.sort if value is None else np.argsort,
            (sample >> np.uint64(62 - bits)).astype(dtype),
            2 * size,
        )
    yield from _partition_cases(engine, items, sample)
    yield from _run_cases(engine, items, sample)


def _partition_cases(engine: Engine, items: int, sample: np.ndarray) -> Iterator[Case]:
    keys = lambda: (random_array(engine, items, np.uint64, 62),)  # noqa: E731
    for parts in (16, 256, 4096):
        digit = parts.bit_length() - 1
        passes = -(-digit // 8)
        yield Case(
            f"partition 64-bit keys, {parts} parts by a digit",
            keys,
            lambda keys, digit=digit: partition(engine, keys, bits=digit, first_bit=62 - digit),
            lambda keys, digit=digit: keys[
                np.argsort((keys >> np.uint64(62 - digit)).astype(np.uint16), kind="stable")
            ],
            sample,
            24 * passes,
        )
        splitters = np.sort(np.random.default_rng(SEED).integers(0, 1 << 62, parts - 1, np.uint64))
        on_device = engine.upload(splitters)
        yield Case(
            f"partition 64-bit keys, {parts} parts by splitters",
            keys,
            lambda keys, on_device=on_device: partition(engine, keys, splitters=on_device),
            lambda keys, splitters=splitters: keys[
                np.argsort(np.searchsorted(splitters, keys, "right").astype(np.uint16), kind="stable")
            ],
            sample,
            24 * passes,
        )


def _run_cases(engine: Engine, items: int, sample: np.ndarray) -> Iterator[Case]:
    keys = np.repeat(sample[: len(sample) // COPIES], COPIES)
    keys.sort()
    array = engine.empty(items, np.uint64)
    for offset in range(0, items, len(keys)):
        engine.write(array, keys[: items - offset], offset)
    yield Case(
        f"run lengths, {COPIES} of each key",
        lambda: (array,),
        lambda keys: run_lengths(engine, keys),
        lambda keys: np.unique(keys, return_counts=True),
        keys,
        8 + 12 / COPIES,
    )
    flags = engine.upload(np.resize(np.array([1, 0], np.uint8), items))
    yield Case(
        "compaction, half stays",
        lambda: (array, flags),
        lambda keys, flags: compact(engine, keys, flags),
        lambda keys: keys[::2].copy(),
        keys,
        8 + 1 + 4,
    )
    for runs in (2, 8):
        ends = [items * (run + 1) // runs for run in range(runs)]
        sorted_part = np.sort(np.random.default_rng(SEED).integers(0, 1 << 62, items // runs, np.uint64))

        def prepare(ends: list[int] = ends, part: np.ndarray = sorted_part) -> tuple[DeviceArray, list[int]]:
            whole = engine.empty(items, np.uint64)
            for end in ends:
                engine.write(whole, part, end - len(part))
            return whole, ends

        yield Case(f"merge of {runs} runs", prepare, lambda keys, ends: merge(engine, keys, ends), None, None, 16)


def timed(engine: Engine, case: Case, repeat: int) -> list[float]:
    """Seconds of each run."""
    times = []
    for _ in range(repeat + 1):  # the first one compiles
        arguments = case.prepare()
        engine.finish()
        start = time.perf_counter()
        case.run(*arguments)
        engine.finish()
        times.append(time.perf_counter() - start)
    return times[1:]


def host_rate(case: Case, repeat: int) -> float:
    """Items per second of NumPy, one thread; not a number where it has no such function."""
    if case.host is None or case.host_items is None:
        return float("nan")
    return len(case.host_items) / best_time(repeat, case.host, case.host_items)


def main() -> int:
    """Run all cases."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("-d", "--device")
    parser.add_argument("--items", type=int)
    parser.add_argument("--repeat", type=int, default=5)
    parser.add_argument("--only", default="", help="cases with this text in their names alone")
    parser.add_argument("--json", metavar="FILE")
    args = parser.parse_args()
    with Engine(select_device(args.device)) as engine:
        items = args.items or (1 << 29 if engine.device.kind == "gpu" else 1 << 24)
        record: dict[str, Any] = {"machine": machine(engine.device), "items": items, "copy_gbps": copy_rate(engine)}
        rows = []
        for case in (case for case in cases(engine, items) if args.only in case.name):
            seconds = timed(engine, case, args.repeat)
            rate = items / float(np.median(seconds))
            rows.append(
                {
                    "primitive": case.name,
                    "M items/s": rate / 1e6,
                    "least": items / max(seconds) / 1e6,
                    "most": items / min(seconds) / 1e6,
                    "GB/s": rate * case.item_bytes / 1e9,
                    "of copy": rate * case.item_bytes / 1e9 / record["copy_gbps"],
                    "NumPy M items/s": host_rate(case, 3) / 1e6,
                }
            )
        record["rows"] = rows
    print(f"{record['machine']['device']}, {items:,} items, copy {record['copy_gbps']:.3g} GB/s\n{table(rows)}")
    write_json(args.json, record)
    return 0


if __name__ == "__main__":
    sys.exit(main())
