"""SquiggleFilter's functions compared with ours: costs, which have to be the same, and times."""

from __future__ import annotations

import argparse
import json
import subprocess
from functools import cached_property, partial
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sdtw_data import MODEL
from sdtw_peer_runs import peer_row, read_prefixes, timed

from oclgenomics.io.cores import usable_cores
from oclgenomics.runtime import Engine
from oclgenomics.sdtw.device.aligner import Aligner
from oclgenomics.sdtw.options import CRESCENT, SQUIGGLEFILTER, AlignOptions
from oclgenomics.sdtw.squiggles.build import build_squiggle
from oclgenomics.sdtw.squiggles.squiggle import Squiggle
from oclgenomics.signals import read_model

__all__ = ["compare_squigglefilter"]

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
            found, *own = timed(partial(aligner.align, reads.samples, reads.first, args.prefix))
            ours[name].append((own[0], own[1]))
            if name == "SquiggleFilter" and not np.array_equal(found.cost[:, 0], costs):
                raise SystemExit(f"other costs than SquiggleFilter: {found.cost[:, 0]} and {costs}")
    samples, columns = len(reads) * args.prefix, len(squiggle)
    rows = [peer_row("SquiggleFilter, numba", len(reads), samples, columns, theirs)]
    return rows + [peer_row(f"ours, {name}", len(reads), samples, columns, times) for name, times in ours.items()]
