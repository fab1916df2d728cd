"""Tables of seeds, made by the host and by the device, and methods for many short reads.

    python benchmarks/signatures_tables.py [-d gpu] [--repeat 3] [--json FILE] [--quick]

`tables`: seconds to make the table of random signatures (10 % N) once seeds are chosen, until it is on the device; the
least of several. CPU seconds are those of all threads of the process. The tables are compared byte by byte.

`reads`: seconds to find the pairs of reads of 150 bp (1 % N) and 1,000 signatures of 60 to 140, with planes and
with the index, which are ready; the least of several.
"""

from __future__ import annotations

import argparse
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
from measure import machine, table, write_json

from oclgenomics.runtime import Engine, select_device
from oclgenomics.sequence.letters import letter_blocks
from oclgenomics.signatures import ScanOptions
from oclgenomics.signatures.device.methods import Methods
from oclgenomics.signatures.device.patterns import DevicePatterns
from oclgenomics.signatures.device.samples import Encoder
from oclgenomics.signatures.device.seed_table import DeviceTable, table_on_device
from oclgenomics.signatures.panels.panel import Panel
from oclgenomics.signatures.panels.seeds import choose_seeds, make_table
from oclgenomics.signatures.plan import choose_head

SEED = 1103
LETTERS = 160_000_000  # that are looked through, which decides about heads
LONG = (300, 10_000)
PANELS = ((1_000, 0), (1_000, 2), (10_000, 0), (100_000, 0))  # signatures and mismatches
READS, READ_LENGTH = 110_000, 150
QUICK = 0.01


def random_panel(count: int, lengths: tuple[int, int], n_rate: float) -> Panel:
    """Signatures of random bases."""
    rng = np.random.default_rng(SEED)
    offsets = np.concatenate([[0], np.cumsum(rng.integers(lengths[0], lengths[1] + 1, count))])
    sets = np.uint8(1) << rng.integers(0, 4, int(offsets[-1]), np.uint8)
    sets[rng.random(len(sets), np.float32) < n_rate] = 15
    return Panel(tuple(map(str, range(count))), sets, offsets)


def least_seconds(repeat: int, engine: Engine, work: Callable[[], Any]) -> tuple[float, float]:
    """Wall and CPU seconds, each the least of several runs after one that is not counted."""
    runs = []
    for _ in range(repeat + 1):
        start, cpu = time.perf_counter(), time.process_time()
        work()
        engine.finish()
        runs.append((time.perf_counter() - start, time.process_time() - cpu))
    wall, cpus = zip(*runs[1:], strict=True)
    return min(wall), min(cpus)


def table_row(engine: Engine, count: int, mismatches: int, repeat: int) -> dict[str, Any]:
    """Make a panel's table on either side."""
    patterns = random_panel(count, LONG, 0.1).patterns("+")
    on_device = DevicePatterns.upload(engine, patterns, ScanOptions(max_mismatches=mismatches))
    head = choose_head(patterns, mismatches, 0.1, LETTERS)
    start = time.perf_counter()
    seeds = choose_seeds(patterns, mismatches, head)
    choosing = time.perf_counter() - start

    def on_host() -> DeviceTable:
        return DeviceTable.upload(engine, make_table(patterns, mismatches, head, seeds))

    def by_device() -> DeviceTable:
        return table_on_device(engine, on_device, mismatches, seeds)

    host, device = on_host(), by_device()
    for name, array in host.arrays.items():
        if not np.array_equal(engine.download(array), engine.download(device.arrays[name])):
            raise SystemExit(f"{count} signatures: host and device differ in {name}")
    row = {
        "signatures": count,
        "mismatches": mismatches,
        "head": head,
        "M listed": host.listed / 1e6,
        "choose s": choosing,
    }
    del host, device
    for name, work in (("host", on_host), ("device", by_device)):
        row[f"{name} s"], row[f"{name} CPU s"] = least_seconds(repeat, engine, work)
    return row


def read_rows(engine: Engine, count: int, repeat: int) -> list[dict[str, Any]]:
    """Find signatures in short reads."""
    patterns = random_panel(1_000, (60, 140), 0.0).patterns("+")
    on_device = DevicePatterns.upload(engine, patterns, ScanOptions())
    rng = np.random.default_rng(SEED)
    letters = np.frombuffer(b"ACGTN", np.uint8)[rng.choice(5, (count, READ_LENGTH), p=[0.2475] * 4 + [0.01])]
    rows = []
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "reads.fasta"
        path.write_bytes(b"".join(b">%d\n%b\n" % (i, read.tobytes()) for i, read in enumerate(letters)))
        encoder = Encoder(engine)
        for method in ("planes", "index"):
            matcher = Methods(engine, on_device, method)
            wall = cpu = 0.0
            for block in letter_blocks(engine, [path], overlap=int(patterns.lengths.max()) - 1):
                samples = encoder.encode(block)
                seconds = least_seconds(repeat, engine, lambda matcher=matcher, samples=samples: matcher.pairs(samples))
                wall, cpu = wall + seconds[0], cpu + seconds[1]
            rows.append({"reads": count, "method": method, "s": wall, "CPU s": cpu, "ns a pair": 1e6 * wall / count})
    return rows


def main() -> int:
    """Run both parts."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("-d", "--device", default="auto")
    parser.add_argument("--repeat", type=int, default=3)
    parser.add_argument("--json", metavar="FILE")
    parser.add_argument("--quick", action="store_true", help="a hundredth of all, to see that everything runs")
    args = parser.parse_args()
    device, scale = select_device(args.device), QUICK if args.quick else 1
    record: dict[str, Any] = {"benchmark": "signatures_tables", "machine": machine(device), "seed": SEED}
    with Engine(device) as engine:
        record["tables"] = [table_row(engine, int(n * scale), mismatches, args.repeat) for n, mismatches in PANELS]
        record["reads"] = read_rows(engine, int(READS * scale), args.repeat)
    for part in ("tables", "reads"):
        print(f"\n{part}\n{table(record[part])}", flush=True)
    write_json(args.json, record)
    return 0


if __name__ == "__main__":
    sys.exit(main())
