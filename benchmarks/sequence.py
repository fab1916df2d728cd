"""How fast FASTA and FASTQ become packed bases, or letters in place: from files in the page cache, on the device alone.

    python benchmarks/sequence.py [--device gpu] [--megabytes 300] [--repeat 5] [--json FILE]

Reads of 150 bases, long ones of 150,000 and a genome in lines of 60, at random; `file` is the whole way from the page
cache to packed symbols on the device, `letters` that to letters in place (`letter_blocks`), `device` the kernels alone
on text that is there already, `link` the copy of the text to the device from pinned memory (CPU devices share it, so
there is none), `read` the reading of the file alone. GB of text a second.
`with` is what is asked for in addition to the symbols.
"""

from __future__ import annotations

import argparse
import sys
import tempfile
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import numpy as np
from measure import best_time, machine, table, write_json

from oclgenomics.io.source import Source
from oclgenomics.runtime import Engine, select_device
from oclgenomics.sequence import letter_blocks, packed_blocks
from oclgenomics.sequence.block_records import RecordTable
from oclgenomics.sequence.device_text import Text
from oclgenomics.sequence.parse import MAX_BYTES, FastaState, parse_fasta, parse_fastq

SEED, READ, LONG, LINE = 11, 150, 150_000, 60
OVERLAP = 63  # of pieces of a record
BLOCKS = (16 << 20, 64 << 20, 128 << 20)
OPTIONS: tuple[dict[str, Any], ...] = ({}, {"min_quality": 30}, {"qualities": True}, {"names": True})
BASES = np.frombuffer(b"ACGT", np.uint8)


def fastq_text(rng: np.random.Generator, size: int, bases: int = READ) -> np.ndarray:
    """Records of equally many bases, and 13 bytes for all but these and their qualities."""
    count = size // (2 * bases + 13)
    rows = np.full((count, 2 * bases + 13), ord("\n"), np.uint8)
    rows[:, :8] = np.frombuffer(b"@read.nr", np.uint8)
    rows[:, 9 : 9 + bases] = BASES[rng.integers(0, 4, (count, bases))]
    rows[:, 10 + bases] = ord("+")
    rows[:, 12 + bases : 12 + 2 * bases] = rng.integers(60, 73, (count, bases))
    return rows.reshape(-1)


def fasta_text(rng: np.random.Generator, size: int) -> np.ndarray:
    """One record in lines of 60."""
    rows = np.full((size // (LINE + 1), LINE + 1), ord("\n"), np.uint8)
    rows[:, :LINE] = BASES[rng.integers(0, 4, (len(rows), LINE))]
    rows[0, :5] = np.frombuffer(b">chr\n", np.uint8)
    return rows.reshape(-1)


def best(run: Callable[[], object], repeat: int) -> float:
    """Seconds of the fastest run; the first one compiles and does not count."""
    run()
    return best_time(repeat, run)


def rates(engine: Engine, name: str, text: np.ndarray, repeat: int, options: dict[str, Any]) -> dict[str, Any]:
    """GB of text a second in each part of the way."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / name
        text.tofile(path)

        def whole(block_bytes: int) -> None:
            for _ in packed_blocks(engine, [path], overlap=30, block_bytes=block_bytes, **options):
                pass
            engine.finish()

        target = np.empty(len(text), np.uint8)

        def read() -> None:
            with Source(path) as source, ThreadPoolExecutor(source.readers) as threads:
                list(source.start_reading(target, threads))

        from_file = {size: best(lambda size=size: whole(size), repeat) for size in BLOCKS}
        reading = best(read, repeat)
    block = text[: MAX_BYTES // (2 * READ + 13) * (2 * READ + 13)]  # whole records
    pinned, memory = engine.pinned(len(block), np.uint8), engine.empty(len(block), np.uint8)
    pinned[:] = block
    engine.write(memory, pinned)
    on_device = Text(memory, 0, len(block))
    of_qualities = {option: value for option, value in options.items() if option != "names"}

    def parse() -> None:
        table = RecordTable(engine) if "names" in options else None
        if name == "fastq":
            parse_fastq(engine, on_device, final=True, table=table, **of_qualities)
        else:
            parse_fasta(engine, on_device, FastaState(), None, 0, table)
        if table is not None:
            table.gather(on_device, continued=False)
        engine.finish()

    gigabytes, in_block = len(text) / 1e9, len(block) / 1e9
    fastest = min(from_file, key=lambda size: from_file[size])
    row: dict[str, Any] = {"text": name, "with": ", ".join(options), "MB": len(text) // 1_000_000}
    row["file"] = gigabytes / from_file[fastest]
    row |= {"block MiB": fastest >> 20, "read": gigabytes / reading, "device": in_block / best(parse, repeat)}
    if not engine.tuning.cpu:
        row["link"] = in_block / best(lambda: engine.write(memory, pinned), repeat)
    return row


def letter_rate(engine: Engine, name: str, text: np.ndarray, repeat: int) -> dict[str, Any]:
    """GB of text a second from the page cache to letters in place."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / name
        text.tofile(path)

        def whole() -> None:
            for _ in letter_blocks(engine, [path], overlap=OVERLAP):
                pass
            engine.finish()

        return {"text": name, "MB": len(text) // 1_000_000, "letters": len(text) / 1e9 / best(whole, repeat)}


def main() -> int:
    """Run both formats."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("-d", "--device")
    parser.add_argument("--megabytes", type=int, default=300)
    parser.add_argument("--repeat", type=int, default=5)
    parser.add_argument("--json", metavar="FILE")
    args = parser.parse_args()
    rng = np.random.default_rng(SEED)
    size = args.megabytes * 1_000_000
    with Engine(select_device(args.device)) as engine:
        record: dict[str, Any] = {"machine": machine(engine.device)}
        texts = (("fastq", fastq_text(rng, size)), ("fasta", fasta_text(rng, size)))
        record["rows"] = [
            rates(engine, name, text, args.repeat, options)
            for name, text in texts
            for options in OPTIONS
            if name == "fastq" or set(options) <= {"names"}
        ]
        in_place = (*texts, ("long reads", fastq_text(rng, size, LONG)))
        record["letters"] = [letter_rate(engine, name, text, args.repeat) for name, text in in_place]
    print(f"{record['machine']['device']}, GB/s\n{table(record['rows'])}\n\n{table(record['letters'])}")
    write_json(args.json, record)
    return 0


if __name__ == "__main__":
    sys.exit(main())
