"""The paper's Table 4 on the device at hand: whole runs, file to written database, as a table, JSON and a picture.

    python benchmarks/kmers_table.py [--device gpu] [--sets genome,random] [--k 28,40,53,65] [--scale 1] [--repeat 1]
                                     [--folder DIR] [--json FILE] [--plot FILE.png]
    python benchmarks/kmers_table.py --drawn-from FILE.json --plot FILE.png

Two of the paper's four data sets can be made anywhere. `genome` has the size of GRCh38: 3.1 billion bases in 24 records
and lines of 80, 5 % of them N. Its letters are random, so nearly all its k-mers differ: more than those of the human
genome, half of which repeats. `random` is the paper's own recipe: 10 GB of random reads of 1,000 bases. `--scale` makes
both smaller. The other two sets, reads of M. balbisiana and H. sapiens, are left out.

A run is a process of its own, timed from start to exit, the file in the system's cache if memory holds it. `s` is the
median of --repeat runs. The paper's seconds are those of its second system, two Xeons of 16 cores with a V100. They
are quoted, not measured here, so no ratio is given.
"""

from __future__ import annotations

import argparse
import json
import os
import sys
import tempfile
from pathlib import Path
from typing import Any

import numpy as np
from measure import machine, run_process, table, write_json

from oclgenomics.kmers.device.reader import KmerDatabase
from oclgenomics.runtime import select_device

SEED, CHUNK = 29, 1 << 20  # rows made at a time
LETTERS = np.frombuffer(b"ACGT", np.uint8)
GENOME_BASES, GENOME_LINE, RECORDS, UNKNOWN = 3.1e9, 80, 24, 0.05
RANDOM_BASES, RANDOM_READ = 1e10, 1000
SHOWN = {"genome": "GRCh38 (published) and a random genome of its size (here)", "random": "random reads of 1,000 bases"}
PAPER = {  # seconds of SNCGPU and Gerbil
    ("genome", 28): (111.35, 30.79),
    ("genome", 40): (129.69, 31.96),
    ("genome", 53): (143.58, 37.60),
    ("genome", 65): (211.13, 45.17),
    ("random", 28): (276.08, 69.91),
    ("random", 40): (368.56, 73.51),
    ("random", 53): (383.73, 92.10),
    ("random", 65): (557.35, 107.16),
}
COLOURS = {"SNCGPU": "#BBBBBB", "Gerbil": "#56B4E9", "oclgenomics": "#D55E00"}


def random_rows(rng: np.random.Generator, rows: int, width: int) -> np.ndarray:
    """Random letters, four of them from each random byte; a newline ends each row."""
    letters = np.full((rows, width + 1), ord("\n"), np.uint8)
    bits = rng.integers(0, 256, (rows, -(-width // 4)), np.uint8)
    for place in range(4):
        part = letters[:, place:width:4]
        part[:] = LETTERS[bits[:, : part.shape[1]] >> (2 * place) & 3]
    return letters


def write_genome(path: Path, scale: float) -> int:
    """Write the genome; return its bases, unknown ones included."""
    rng = np.random.default_rng(SEED)
    lines = int(GENOME_BASES * scale / RECORDS / GENOME_LINE)
    with path.open("wb") as file:
        for record in range(RECORDS):
            file.write(b">chromosome%d\n" % (record + 1))
            for first in range(0, lines, CHUNK):
                rows = random_rows(rng, min(CHUNK, lines - first), GENOME_LINE)
                if not first:
                    rows[: int(lines * UNKNOWN), :-1] = ord("N")
                file.write(rows)
    return RECORDS * lines * GENOME_LINE


def write_reads(path: Path, scale: float) -> int:
    """Write the random reads; return their bases."""
    rng = np.random.default_rng(SEED + 1)
    reads = int(RANDOM_BASES * scale / RANDOM_READ)
    step = CHUNK // 16
    with path.open("wb") as file:
        for first in range(0, reads, step):
            letters = random_rows(rng, min(step, reads - first), RANDOM_READ)
            heads = np.tile(np.frombuffer(b">read\n", np.uint8), (len(letters), 1))
            file.write(np.concatenate([heads, letters], axis=1))
    return reads * RANDOM_READ


WRITERS = {"genome": write_genome, "random": write_reads}


def runs(args: argparse.Namespace, folder: Path, device: str) -> list[dict[str, Any]]:
    """All data sets with all k."""
    rows = []
    for name in args.sets:
        path, database = folder / f"{name}.fa", folder / "own.db"
        bases = WRITERS[name](path, args.scale)
        for k in args.k:
            command = [sys.executable, "-m", "oclgenomics", "kmers", "count", str(path), "-k", str(k), "-q"]
            run = run_process([*command, "-o", str(database), "-d", device], args.repeat)
            with KmerDatabase.open(database) as counted:
                kmers, distinct = counted.total, counted.distinct
            row: dict[str, Any] = {"set": name, "G bases": bases / 1e9, "k": k, "G k-mers": kmers / 1e9}
            row |= {"G distinct": distinct / 1e9, "s": run["median"], "G bases/s": bases / run["median"] / 1e9}
            row |= {"least s": min(run["seconds"]), "most s": max(run["seconds"])}
            row |= {"database GB": os.path.getsize(database) / 1e9, "peak GB": run["peak_mb"] / 1e3}
            database.unlink()
            if args.scale == 1 and (name, k) in PAPER:
                sncgpu, gerbil = PAPER[name, k]
                row |= {"SNCGPU s": sncgpu, "Gerbil s": gerbil}
            rows.append(row)
            print(table(rows).splitlines()[-1], file=sys.stderr, flush=True)
        path.unlink()
    return rows


def draw(record: dict[str, Any], path: str) -> None:
    """Seconds of each program, a panel for each data set."""
    import matplotlib

    matplotlib.use("Agg")
    import matplotlib.pyplot as plt

    rows, scale = record["rows"], record["scale"]
    sets = list(dict.fromkeys(row["set"] for row in rows))
    size = 1.6 + 5.6 * len(sets), 4.6
    figure, panels = plt.subplots(1, len(sets), figsize=size, layout="constrained", squeeze=False)
    for axes, name in zip(panels[0], sets, strict=True):
        chosen = [row for row in rows if row["set"] == name]
        places = np.arange(len(chosen))
        columns = {"SNCGPU": "SNCGPU s", "Gerbil": "Gerbil s", "oclgenomics": "s"}
        for number, (program, column) in enumerate(columns.items()):
            if not any(column in row for row in chosen):
                continue
            values = [row.get(column, np.nan) for row in chosen]
            bars = axes.bar(places + 0.27 * (number - 1), values, 0.25, color=COLOURS[program], label=program)
            axes.bar_label(bars, [f"{value:.3g}" for value in values], fontsize=8, padding=2)
        axes.set(yscale="log", xticks=places, xlabel="k")
        axes.set_title(SHOWN[name] + ("" if scale == 1 else f", {scale:g} of it"), fontsize=10)
        axes.set_xticklabels([str(row["k"]) for row in chosen])
        axes.set_ylim(1, 2.2 * axes.get_ylim()[1])
        axes.spines[["top", "right"]].set_visible(False)
    panels[0][0].set_ylabel("Seconds from file to database")
    panels[0][0].legend(frameon=False, ncols=3, loc="upper left", fontsize=9)
    title = f"k-mers counted on one {record['machine']['device']}"
    if any("SNCGPU s" in row for row in rows):
        title += "; SNCGPU and Gerbil as published, on a V100"
    figure.suptitle(title, fontweight="bold", fontsize=10.5)
    figure.savefig(path, dpi=130)


def main() -> int:
    """Make the data, run everything."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("-d", "--device", default="auto")
    parser.add_argument("--sets", type=lambda text: text.split(","), default=list(WRITERS))
    parser.add_argument("--k", type=lambda text: [int(k) for k in text.split(",")], default=[28, 40, 53, 65])
    parser.add_argument("--scale", type=float, default=1.0)
    parser.add_argument("--repeat", type=int, default=1)
    parser.add_argument("--folder", metavar="DIR", help="where data and databases go: 60 GB at full scale")
    parser.add_argument("--json", metavar="FILE")
    parser.add_argument("--plot", metavar="FILE.png")
    parser.add_argument("--drawn-from", metavar="FILE", help="the JSON of a run before, for --plot; nothing is run")
    args = parser.parse_args()
    if args.drawn_from:
        draw(json.loads(Path(args.drawn_from).read_text()), args.plot)
        return 0
    device = select_device(args.device)
    with tempfile.TemporaryDirectory(dir=args.folder) as name:
        record: dict[str, Any] = {"machine": machine(device), "scale": args.scale}
        record["rows"] = runs(args, Path(name), str(device.index))
    print(f"{device}, scale {args.scale:g}\n{table(record['rows'])}")
    write_json(args.json, record)
    if args.plot:
        draw(record, args.plot)
    return 0


if __name__ == "__main__":
    sys.exit(main())
