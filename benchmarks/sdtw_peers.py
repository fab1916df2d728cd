"""Other programs that align raw signals, in turn with ours on the same reads and cores.

    python benchmarks/sdtw_peers.py [-d cpu] --reference FASTA [--prefix 2000] [--reads 32] [--repeat 3] [--json FILE]
                                    [--signals FILE --squigglefilter sdtw_analysis.ipynb --python PYTHON]
                                    [--blow5 FILE --sigfish PROGRAM [--truth FILE.paf]]

SquiggleFilter: the two functions of its notebook that normalise and align, run by a Python that has numba, a process
for each core; its imports and compilation are not counted. It gets the samples that ours gets, and levels of the same
model, laid out as it does: both strands in one track, and no level for the last six letters of each. Costs have to be
the same. Its prefix l reads sample number l, too, so it is asked for one less.

sigfish aligns the first 250 events of a read after the first 50, not samples; what its time is divided by are the
samples that it says these events have. Its time is that of the process. Ours, of the same file, is the time of
`Aligner.align` for the same mean number of samples, by default options. `--truth` is a PAF of the same reads by their
bases; a place is right where it is on the same strand and overlaps or is less than 100 bp away.

`samples/s a core` counts processor time instead of wall time, so other load does not matter much.
"""

from __future__ import annotations

import argparse
import json
import os
import resource
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np
from measure import machine, table, write_json
from numpy.typing import NDArray
from sdtw_data import MODEL, Reads

from oclgenomics.io.threads import usable_cores
from oclgenomics.runtime import Engine, select_device
from oclgenomics.sdtw.device.aligner import Aligner
from oclgenomics.sdtw.options import CRESCENT, SQUIGGLEFILTER, AlignOptions
from oclgenomics.sdtw.squiggle import STRANDS, Squiggle
from oclgenomics.sdtw.squiggle_build import build_squiggle
from oclgenomics.signals import Signals, TrimOptions, read_model, read_signals

NEAR = 100  # bp
OWN = {"default": AlignOptions(), "Crescent": CRESCENT, "SquiggleFilter": SQUIGGLEFILTER}
# Takes the functions from the notebook, prints costs of each read, seconds and the processes' processor time.
RUNNER = """
import ast, json, multiprocessing, resource, sys, time
import numpy as np
from numba import njit
data = np.load(sys.argv[2])
prefix_lengths = np.array([int(sys.argv[3]) - 1])
for cell in json.load(open(sys.argv[1]))["cells"]:
    try:
        parts = ast.parse("".join(cell["source"]) if cell["cell_type"] == "code" else "").body
    except SyntaxError:
        continue
    for part in parts:
        if isinstance(part, ast.FunctionDef) and part.name in ("discrete_normalize", "sdtw"):
            exec(compile(ast.Module([part], []), part.name, "exec"))
ref = np.concatenate([discrete_normalize(strand * 100) for strand in data["strands"]])
def cost(read):
    levels = np.array(read, float)
    for begin in range(0, len(read), 500):
        levels[begin : begin + 500] = discrete_normalize(read[: begin + 500])[begin:]
    return float(sdtw(levels)[0])
cost(data["reads"][0])
with multiprocessing.Pool(int(sys.argv[4])) as pool:
    start = time.perf_counter()
    costs = pool.map(cost, list(data["reads"]), 1)
    seconds = time.perf_counter() - start
    pool.close()
    pool.join()
used = resource.getrusage(resource.RUSAGE_CHILDREN)
print(json.dumps({"costs": costs, "seconds": seconds, "processor_s": used.ru_utime + used.ru_stime}))
"""


class PublishedSquiggle(Squiggle):
    """Both strands in one track, which SquiggleFilter normalises each by itself."""

    @cached_property
    def column_strand(self) -> NDArray[np.uint8]:
        """Strand of each column: one half each."""
        return np.repeat(np.array([0, 1], np.uint8), len(self) // 2)


def published_squiggle(squiggle: Squiggle) -> PublishedSquiggle:
    """Lay a reference out as SquiggleFilter does: a k-mer less, and no level for the last six letters."""
    if len(squiggle.tracks) != 3:
        raise SystemExit("SquiggleFilter takes one sequence, of A, C, G and T alone")
    strands = [squiggle.levels[a:b] for a, b in zip(squiggle.tracks, squiggle.tracks[1:], strict=False)]
    levels = np.concatenate([np.append(strand[:-1], np.zeros(squiggle.k)) for strand in strands])
    fields = {name: getattr(squiggle, name) for name in squiggle.__dataclass_fields__}
    fields |= {"levels": levels, "tracks": np.array([0, len(levels)]), "track_record": squiggle.track_record[:1]}
    return PublishedSquiggle(
        **fields | {"track_strand": squiggle.track_strand[:1], "track_first": squiggle.track_first[:1]}
    )


def read_prefixes(path: str, prefix: int, count: int | None) -> tuple[Signals, Reads]:
    """The reads of a file that have so many samples behind stall and adapter, or the first of them."""
    blocks = [
        (block, number)
        for block in read_signals(path, trim=TrimOptions(), max_samples=prefix)
        for number in np.flatnonzero(block.lengths >= prefix)
    ][:count]
    if not blocks:
        raise SystemExit(f"{path} has no read of {prefix:,} samples")
    samples = np.concatenate([block.samples[block.starts[n] : block.starts[n] + prefix] for block, n in blocks])
    names = np.array([block.names[n] for block, n in blocks], object)
    first = np.arange(len(blocks), dtype=np.int64) * prefix
    return Signals.of(samples.reshape(-1, prefix), names.tolist()), Reads(samples, first)


def timed(call: Callable[[], Any]) -> tuple[Any, float, float]:
    """What a call returns, its seconds, and its processor time."""
    start, used = time.perf_counter(), time.process_time()
    found = call()
    return found, time.perf_counter() - start, time.process_time() - used


def row(program: str, reads: int, samples: float, columns: int, runs: list[tuple[float, float]]) -> dict[str, Any]:
    """A row of the table from seconds and processor time of runs."""
    seconds, processor = zip(*runs, strict=True)
    shown: dict[str, Any] = {"program": program, "reads": reads, "samples": round(samples), "columns": columns}
    shown |= {"best s": min(seconds), "median s": float(np.median(seconds)), "samples/s": samples / min(seconds)}
    return shown | {"samples/s a core": samples / min(processor)}


def run_squigglefilter(args: argparse.Namespace, data: Path) -> tuple[NDArray[np.float64], float, float]:
    """Costs, seconds and processor time of SquiggleFilter."""
    command = [args.python, "-c", RUNNER, args.squigglefilter, str(data), str(args.prefix), str(usable_cores())]
    run = subprocess.run(command, capture_output=True, text=True, check=False)
    if run.returncode:
        raise SystemExit(f"SquiggleFilter failed:\n{run.stderr}")
    found = json.loads(run.stdout)
    return np.array(found["costs"]), found["seconds"], found["processor_s"]


def compare_squigglefilter(args: argparse.Namespace, engine: Engine, folder: Path) -> list[dict[str, Any]]:
    """SquiggleFilter and ours, in turn."""
    _, reads = read_prefixes(args.signals, args.prefix, args.reads)
    squiggle = published_squiggle(build_squiggle(args.reference, read_model(MODEL)))
    data = folder / "squigglefilter.npz"
    np.savez(data, reads=reads.samples.reshape(len(reads), -1), strands=squiggle.levels.reshape(2, -1))
    aligners = {name: Aligner(engine, [squiggle], options) for name, options in OWN.items()}
    for aligner in aligners.values():
        aligner.align(reads.samples, reads.first, args.prefix)
    theirs: list[tuple[float, float]] = []
    ours: dict[str, list[tuple[float, float]]] = {name: [] for name in OWN}
    for _ in range(args.repeat):
        costs, *times = run_squigglefilter(args, data)
        theirs.append((times[0], times[1]))
        for name, aligner in aligners.items():
            found, *own = timed(lambda aligner=aligner: aligner.align(reads.samples, reads.first, args.prefix))
            ours[name].append((own[0], own[1]))
            if name == "SquiggleFilter" and not np.array_equal(found.cost[:, 0], costs):
                raise SystemExit(f"other costs than SquiggleFilter: {found.cost[:, 0]} and {costs}")
    samples, columns = len(reads) * args.prefix, len(squiggle)
    rows = [row("SquiggleFilter, numba", len(reads), samples, columns, theirs)]
    return rows + [row(f"ours, {name}", len(reads), samples, columns, times) for name, times in ours.items()]


def run_sigfish(args: argparse.Namespace) -> tuple[list[list[str]], float, float]:
    """Lines of its PAF, seconds and processor time."""
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    start = time.perf_counter()
    command = [args.sigfish, "dtw", "-t", str(usable_cores()), args.reference, args.blow5]
    run = subprocess.run(command, capture_output=True, text=True, check=True)
    seconds, after = time.perf_counter() - start, resource.getrusage(resource.RUSAGE_CHILDREN)
    used = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
    return [line.split("\t") for line in run.stdout.splitlines()], seconds, used


def compare_sigfish(args: argparse.Namespace, engine: Engine) -> tuple[list[dict[str, Any]], list[dict[str, Any]]]:
    """sigfish and ours, in turn: times, and where they place reads."""
    lines, *_ = run_sigfish(args)
    used = sum(int(line[3]) - int(line[2]) for line in lines)
    prefix = round(used / len(lines))
    signals, reads = read_prefixes(args.blow5, prefix, None)
    squiggle = build_squiggle(args.reference, read_model(MODEL))
    aligner = Aligner(engine, [squiggle])
    aligner.align(reads.samples, reads.first, prefix)
    theirs, ours = [], []
    for _ in range(args.repeat):
        lines, *times = run_sigfish(args)
        theirs.append((times[0], times[1]))
        found, *own = timed(lambda: aligner.align(reads.samples, reads.first, prefix))
        ours.append((own[0], own[1]))
    rows = [row("sigfish, a process", len(lines), used, len(squiggle), theirs)]
    rows.append(row("ours, default", len(reads), len(reads) * prefix, len(squiggle), ours))
    at = squiggle.places(found.column[:, 0])
    places = {name: (STRANDS[s], int(p)) for name, s, p in zip(signals.names, at.strand, at.position, strict=True)}
    return rows, placed(args.truth, lines, places) if args.truth else []


def placed(truth: str, lines: list[list[str]], places: dict[str, tuple[str, int]]) -> list[dict[str, Any]]:
    """Where reads are by their bases, by sigfish and by ours; right ones."""
    theirs = {line[0]: line for line in lines}
    rows = []
    for line in Path(truth).read_text().splitlines():
        name, strand, begin, end = (line.split("\t")[at] for at in (0, 4, 7, 8))
        shown: dict[str, Any] = {"read": name, "truth": f"{strand} {begin} to {end}"}
        if other := theirs.get(name):
            shown["sigfish"] = f"{other[4]} {other[7]} to {other[8]}"
            shown["right"] = other[4] == strand and near((int(other[7]), int(other[8])), (int(begin), int(end)))
        if own := places.get(name):
            shown["ours end at"] = f"{own[0]} {own[1]}"
            shown["right, ours"] = own[0] == strand and near((own[1], own[1]), (int(begin), int(end)))
        rows.append(shown)
    return rows


def near(place: tuple[int, int], truth: tuple[int, int]) -> bool:
    """Whether a place overlaps another, or is not far."""
    return place[0] <= truth[1] + NEAR and truth[0] <= place[1] + NEAR


def arguments() -> argparse.Namespace:
    """The command line."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("-d", "--device", default="cpu")
    parser.add_argument("--reference", required=True, metavar="FASTA")
    parser.add_argument("--prefix", type=int, default=2000)
    parser.add_argument("--reads", type=int, default=32)
    parser.add_argument("--repeat", type=int, default=3)
    parser.add_argument("--signals", metavar="FILE")
    parser.add_argument("--squigglefilter", metavar="NOTEBOOK")
    parser.add_argument("--python", default=sys.executable)
    parser.add_argument("--blow5", metavar="FILE")
    parser.add_argument("--sigfish", metavar="PROGRAM")
    parser.add_argument("--truth", metavar="FILE.paf")
    parser.add_argument("--json", metavar="FILE")
    args = parser.parse_args()
    if not (args.squigglefilter and args.signals) and not (args.sigfish and args.blow5):
        parser.error("give --squigglefilter and --signals, or --sigfish and --blow5")
    return args


def main() -> int:
    """Compare what there is."""
    args = arguments()
    device = select_device(args.device)
    engine = Engine(device)
    record: dict[str, Any] = {"benchmark": "sdtw_peers", "machine": machine(device), "prefix": args.prefix}
    record |= {"reference": os.path.basename(args.reference), "repeat": args.repeat}
    if args.squigglefilter and args.signals:
        with tempfile.TemporaryDirectory() as folder:
            record["squigglefilter"] = compare_squigglefilter(args, engine, Path(folder))
        print(table(record["squigglefilter"]), "\nAll costs are SquiggleFilter's.\n", flush=True)
    if args.sigfish and args.blow5:
        record["sigfish"], record["places"] = compare_sigfish(args, engine)
        print(table(record["sigfish"]), flush=True)
        for shown in record["places"]:
            print(table([shown]))
    if args.json:
        write_json(args.json, record)
    return 0


if __name__ == "__main__":
    sys.exit(main())
