"""Counting at the size of a tenth of human: reads that come through a pipe, with KMC and FastK on the same reads.

    python benchmarks/kmers_large.py [--device cpu] [--bases 310e6] [--coverage 10] [--k 31]
                                     [--max-memory 4G,1G] [--peers kmc,FastK] [--tmp FOLDER] [--json FILE]

`kmers_large_reads.py` makes the reads. Ours come through a pipe, so the CPU time of making them is not in ours, but the
cores are shared with it; for peers, which seek or need names, they are in a file, which is made once. All keep k-mers
that occur twice or more. Memory is the largest resident set of the process. Disk is sampled each second: files of the
program's folder, output included, and files without a name that it has open. The spectra are compared, from 2 to
32,766, where FastK's end.
"""

from __future__ import annotations

import argparse
import contextlib
import os
import select
import shutil
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any

from kmers_large_reads import READ
from measure import host, machine, table, write_json

from oclgenomics.runtime import select_device

OWN, PEERS = "oclgenomics", ("kmc", "FastK")
MAKE = [sys.executable, str(Path(__file__).with_name("kmers_large_reads.py"))]
LEAST, MOST = 2, 32_766
Spectrum = dict[int, int]
Row = dict[str, Any]


def spilled(process: int, folder: Path) -> int:
    """Bytes on disk of a folder's files and of the files without a name that a process has open."""
    sizes = [entry.stat().st_blocks * 512 for entry in folder.rglob("*") if entry.is_file()]
    with contextlib.suppress(OSError):
        for handle in os.scandir(f"/proc/{process}/fd"):
            if os.readlink(handle.path).endswith("(deleted)") and str(folder) in os.readlink(handle.path):
                sizes.append(os.stat(handle.path).st_blocks * 512)
    return sum(sizes)


def run(command: Sequence[str], folder: Path, stdin: int | None) -> Row:
    """Run a command in a folder, from start to exit."""
    begun, most, ended = time.perf_counter(), 0, threading.Event()
    with (folder.parent / "messages").open("wb") as messages:
        child = subprocess.Popen(command, cwd=folder, stdin=stdin, stdout=messages, stderr=messages)

        def watch() -> None:
            nonlocal most
            while not ended.wait(1):
                with contextlib.suppress(OSError):
                    most = max(most, spilled(child.pid, folder))

        watcher = threading.Thread(target=watch)
        watcher.start()
        _, status, usage = os.wait4(child.pid, 0)
        child.returncode = os.waitstatus_to_exitcode(status)
        ended.set()
        watcher.join()
    if child.returncode:
        raise SystemExit(f"{' '.join(command)} failed:\n{(folder.parent / 'messages').read_text()}")
    return {
        "CPU s": usage.ru_utime + usage.ru_stime, "s": time.perf_counter() - begun, "peak MB": usage.ru_maxrss / 1024,
        "disk GB": most / 1e9,
    }  # fmt: skip


def pairs(text: str) -> Spectrum:
    """Return the spectrum of a table of two columns."""
    rows = (line.split() for line in text.splitlines())
    return {int(count): int(kmers) for count, kmers in rows if LEAST <= int(count) <= MOST and int(kmers)}


def printed(*command: str) -> str:
    return subprocess.run(command, check=True, capture_output=True, text=True).stdout


def own_spectrum(folder: Path) -> Spectrum:
    """Return that of the database."""
    return pairs(printed(sys.executable, "-m", OWN, "kmers", "histogram", str(folder / "own.db"), "-q"))


def kmc_spectrum(folder: Path) -> Spectrum:
    """Return that of KMC's database."""
    printed("kmc_tools", "-hp", "transform", str(folder / "kmc"), "histogram", str(folder / "kmc.txt"), f"-cx{MOST}")
    return pairs((folder / "kmc.txt").read_text())


def fastk_spectrum(folder: Path) -> Spectrum:
    """Return that of FastK's histogram."""
    return pairs(printed("Histex", "-A", f"-h1:{MOST + 1}", str(folder / "fastk")))


SPECTRA: dict[str, Callable[[Path], Spectrum]] = {OWN: own_spectrum, "kmc": kmc_spectrum, "FastK": fastk_spectrum}


def peer_command(name: str, k: int, reads: Path) -> list[str]:
    """Return the command of a peer that keeps k-mers from 2 on, with two threads, a database and no more."""
    if name == "kmc":
        return ["kmc", f"-k{k}", "-t2", "-m4", "-ci2", "-cs4000000000", str(reads), "kmc", "."]
    return ["FastK", f"-k{k}", f"-t{LEAST}", "-T2", "-M4", "-P.", "-Nfastk", str(reads)]


def programs(args: argparse.Namespace, reads: list[str], file: Path) -> Iterator[tuple[Row, list[str], bool]]:
    """The programs, and whether their reads come through a pipe."""
    index = str(select_device(args.device).index)
    for memory in args.max_memory:
        own = [sys.executable, "-m", OWN, "kmers", "count", "-", "-k", str(args.k), "--min-count", str(LEAST), "-q"]
        own += ["-o", "own.db", "-d", index, "--max-memory", memory, "--tmp-dir", "."]
        yield {"program": OWN, "max memory": memory}, own, True
    for name in args.peers:
        if shutil.which(name) is None:
            print(f"{name} is not installed", file=sys.stderr)
            continue
        if not file.exists():
            with file.open("wb") as stream:
                subprocess.run(reads, check=True, stdout=stream)
        yield {"program": name, "max memory": "4G"}, peer_command(name, args.k, file), False


def main() -> int:
    """Run everything and compare."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("-d", "--device", default="cpu")
    parser.add_argument("--bases", type=float, default=310e6)
    parser.add_argument("--coverage", type=float, default=10)
    parser.add_argument("--k", type=int, default=31)
    parser.add_argument("--max-memory", type=lambda text: text.split(","), default=["4G", "1G"])
    parser.add_argument("--peers", type=lambda text: text.split(",") if text else [], default=list(PEERS))
    parser.add_argument("--tmp")
    parser.add_argument("--json", metavar="FILE")
    args = parser.parse_args()
    number = int(args.bases * args.coverage) // READ
    made = [*MAKE, "--bases", str(args.bases), "--coverage", str(args.coverage)]
    record: dict[str, Any] = {"machine": machine(select_device(args.device)), "host": host(), "reads": number}
    rows: list[Row] = []
    spectra: list[Spectrum] = []
    with tempfile.TemporaryDirectory(dir=args.tmp) as name:
        file = Path(name) / "reads.fq"
        for row, command, piped in programs(args, made, file):
            folder = Path(name) / "work"
            folder.mkdir()
            if piped:
                with subprocess.Popen(made, stdout=subprocess.PIPE) as maker:
                    select.select([maker.stdout], [], [])  # until there are reads
                    row |= run(command, folder, maker.stdout.fileno())
                if maker.returncode:
                    raise SystemExit("reads were not made")
            else:
                row |= run(command, folder, None)
            spectra.append(SPECTRA[row["program"]](folder))
            row |= {"output GB": sum(one.stat().st_size for one in folder.rglob("*") if one.is_file()) / 1e9}
            row |= {"distinct": sum(spectra[-1].values()), "same": spectra[-1] == spectra[0]}
            rows.append(row)
            print(table(rows), file=sys.stderr, flush=True)
            shutil.rmtree(folder)
    record["rows"] = rows
    record["windows"] = number * (READ - args.k + 1)
    record["spectrum"] = {count: spectra[0][count] for count in sorted(spectra[0])[:40]}
    write_json(args.json, record)
    if not all(row["same"] for row in rows):
        print("the spectra differ", file=sys.stderr)
    return int(not all(row["same"] for row in rows))


if __name__ == "__main__":
    sys.exit(main())
