"""RawHash2, a mapper of raw signals by seeds, and sDTW on the same simulated reads: F1 and CPU time.

    python benchmarks/sdtw_mappers.py --squigulator PROGRAM --rawhash2 PROGRAM --target REF.fa [--target REF.fa ...]
                                      [--r9 r9.4.1] [--r10 LEVELS] [-d auto] [--reads 200] [--samples 1000,2000,4000]
                                      [--noisy] [--json FILE] [--quick]

Reads are squigulator's, of 1,500 bases on average, without adapters; half of those that are not of the target are of a
bacterial and half of a human-like genome (see sdtw_r10.py). Both programs get the first so many samples of each read as
SLOW5 text, and the levels that the reads were made with. sDTW takes a read whose cost is below the threshold that was
best on other reads. RawHash2 takes a read that it maps to the target with the mapping quality that was best on other
reads, with the presets `viral` and `sensitive`, and `--r10` for R10.4.1. F weighs both classes the same. CPU time is
that of a whole process with one thread of RawHash2, and of `sdtw align`, for all reads, with the index made before;
`ms/read` leaves out what the same process takes for one read.
"""

from __future__ import annotations

import argparse
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
from measure import machine, run_process, table, write_json
from numpy.typing import NDArray
from sdtw_r10 import Signals as Simulated, bacterial, best_threshold, human_like, interval, levels, write_fasta

from oclgenomics.runtime import select_device
from oclgenomics.sdtw import build_squiggle
from oclgenomics.sdtw.formats.squiggle import write_squiggle
from oclgenomics.signals import KmerModel, Signals, read_model, read_signals

PRESETS = ("viral", "sensitive")
PORES = {"R9": ("dna-r9-min", 4000.0), "R10": ("dna-r10-min", 5000.0)}
HEAD = (
    "#slow5_version\t0.2.0\n#num_read_groups\t1\n@asic_id\t0\n"
    "#char*\tuint32_t\tdouble\tdouble\tdouble\tdouble\tuint64_t\tint16_t*\n"
    "#read_id\tread_group\tdigitisation\toffset\trange\tsampling_rate\tlen_raw_signal\traw_signal\n"
)


def main() -> None:
    args = arguments()
    device = select_device(args.device)
    rows: list[dict[str, Any]] = []
    with tempfile.TemporaryDirectory() as name:
        for pore, given in (("R9", args.r9), ("R10", args.r10)):
            if given:
                folder = Path(name) / pore
                folder.mkdir()
                model = r9_levels(given) if pore == "R9" else levels(given)
                for target in args.target:
                    for row in compared(args, folder, pore, model, Path(target)):
                        rows.append(row)
                        print(table([row]), flush=True)
    print(table(rows))
    record = {"rows": rows, "reads": args.reads, "noisy": args.noisy}
    write_json(args.json, record | machine(device))


def arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--squigulator", required=True, metavar="PROGRAM")
    parser.add_argument("--rawhash2", required=True, metavar="PROGRAM")
    parser.add_argument("--target", required=True, action="append", metavar="REF.fa")
    parser.add_argument("--r9", metavar="LEVELS")
    parser.add_argument("--r10", metavar="LEVELS")
    parser.add_argument("-d", "--device", default="auto")
    parser.add_argument("--reads", type=int, default=200, help="of each class and set")
    parser.add_argument("--samples", default="1000,2000,4000")
    parser.add_argument("--noisy", action="store_true")
    parser.add_argument("--json", metavar="FILE")
    parser.add_argument("--quick", action="store_true", help="few reads, to see that it runs")
    args = parser.parse_args()
    if args.quick:
        args.reads = 20
    return args


def r9_levels(given: str) -> KmerModel:
    """The levels of R9.4.1, with a deviation where they have none."""
    model = read_model(given)
    missing = np.isnan(model.deviation)
    return replace(model, deviation=np.where(missing, 1.5, model.deviation), pore="R9", rate=4000.0)


def compared(
    args: argparse.Namespace, folder: Path, pore: str, model: KmerModel, target: Path
) -> Iterator[dict[str, Any]]:
    """A row for each program and number of samples."""
    signals = Simulated(args, folder, model, ("-x", PORES[pore][0]))
    scale = 20 if args.quick else 1
    others = [folder / "bacterial.fa", folder / "human.fa"]
    if not others[0].exists():
        write_fasta(others[0], bacterial(4_000_000 // scale))
        write_fasta(others[1], human_like(20_000_000 // scale))
    sets = {(kind, seed): reads_of(signals, paths, seed, args.reads)
            for kind, paths in (("target", [target]), ("other", others)) for seed in (1, 2)}  # fmt: skip
    squiggle = folder / f"{target.stem}.sdtw"
    write_squiggle(squiggle, build_squiggle(target, model))
    for preset in PRESETS:
        subprocess.run([*rawhash2(args, pore, preset), "-p", folder / "levels.model", "-d",
                        folder / f"{target.stem}.{preset}.ind", target], check=True, capture_output=True)  # fmt: skip
    for samples in map(int, args.samples.split(",")):
        files = {key: folder / f"{key[0]}.{key[1]}.slow5" for key in sets}
        for key, path in files.items():
            write_slow5(path, sets[key], samples, PORES[pore][1])
        both = folder / "both.slow5"
        write_slow5(both, Signals.joined([sets["target", 2], sets["other", 2]]), samples, PORES[pore][1])
        one = folder / "one.slow5"
        write_slow5(one, sets["target", 2].between(0, 1), samples, PORES[pore][1])
        about = {"pore": pore, "target": target.stem, "samples": samples}
        yield about | ours(args, folder, squiggle, files, both, one, samples)
        for preset in PRESETS:
            yield about | theirs(args, pore, preset, folder / f"{target.stem}.{preset}.ind", files, both, one)


def reads_of(signals: Simulated, genomes: list[Path], seed: int, count: int) -> Signals:
    """The first reads of genomes, as many of each, that are long enough for the most samples."""
    found = [Signals.joined(list(read_signals(signals.of(genome, seed)))) for genome in genomes]
    return Signals.joined([one.between(0, min(len(one), count // len(genomes))) for one in found])


def write_slow5(path: Path, signals: Signals, samples: int, rate: float) -> None:
    """The first samples of reads that have as many."""
    kept = np.flatnonzero(signals.lengths >= samples)
    with path.open("w") as file:
        file.write(HEAD)
        for number in kept.tolist():
            values = ",".join(map(str, signals.read(number)[:samples].tolist()))
            name = f"{number}_{signals.names[number]}".replace("!", "_")
            scale, offset = float(signals.scale[number]), float(signals.offset[number])
            file.write(f"{name}\t0\t8192\t{offset}\t{8192 * scale}\t{rate:g}\t{samples}\t{values}\n")


def ours(
    args: argparse.Namespace, folder: Path, squiggle: Path, files: dict[tuple[str, int], Path], both: Path, one: Path,
    samples: int,
) -> dict[str, Any]:  # fmt: skip
    """sDTW: F by a threshold of other reads, and CPU time."""

    def command(path: Path) -> list[str]:
        return [sys.executable, "-m", "oclgenomics", "sdtw", "align", str(path), "--reference", str(squiggle),
                "--prefixes", str(samples), "--trim", "none", "-d", args.device, "-q",
                "-o", str(folder / "o.tsv")]  # fmt: skip

    costs = {}
    for key, path in files.items():
        subprocess.run(command(path), check=True, capture_output=True)
        lines = [line.split("\t") for line in (folder / "o.tsv").read_text().splitlines() if line[0] != "#"]
        column = lines[0].index("cost")
        costs[key] = np.array([float(line[column]) for line in lines[1:]])
    threshold = best_threshold(costs["target", 1], costs["other", 1])
    found, wrong = costs["target", 2] <= threshold, costs["other", 2] <= threshold
    return {"program": "sdtw", **judged(found, wrong), **times(command(both), command(one), len(found) + len(wrong))}


def rawhash2(args: argparse.Namespace, pore: str, preset: str) -> list[str]:
    rate = ["--r10", "--sample-rate", "5000", "--bp-per-sec", "400"] if pore == "R10" else []
    return [args.rawhash2, "-x", preset, "-t", "1", *rate]


def theirs(
    args: argparse.Namespace, pore: str, preset: str, index: Path, files: dict[tuple[str, int], Path], both: Path,
    one: Path,
) -> dict[str, Any]:  # fmt: skip
    """RawHash2: F of what it maps, and CPU time."""
    costs = {key: -qualities(rawhash2(args, pore, preset), index, path) for key, path in files.items()}
    threshold = min(best_threshold(costs["target", 1], costs["other", 1]), 0.0)
    taken = [costs[kind, 2] <= threshold for kind in ("target", "other")]
    whole, least = ([*rawhash2(args, pore, preset), str(index), str(path)] for path in (both, one))
    return {"program": f"RawHash2 {preset}", **judged(*taken), **times(whole, least, sum(map(len, taken)))}


def qualities(command: list[str], index: Path, path: Path) -> NDArray[np.float64]:
    """The best mapping quality of each read; -1 where it is not mapped."""
    run = subprocess.run([*command, str(index), str(path)], check=True, capture_output=True, text=True)
    best = {line.split("\t")[0]: -1.0 for line in path.read_text().splitlines() if line[0] not in "#@"}
    for line in run.stdout.splitlines():
        fields = line.split("\t")
        if fields[5] != "*":
            best[fields[0]] = max(best[fields[0]], float(fields[11]))
    return np.array(list(best.values()))


def judged(found: NDArray[np.bool_], wrong: NDArray[np.bool_]) -> dict[str, Any]:
    recall, false = float(found.mean()), float(wrong.mean())
    return {"F": 2 * recall / (recall + false + 1), "recall": recall, "false": false,
            "recall_interval": interval(found), "false_interval": interval(wrong)}  # fmt: skip


def times(command: list[str], one: list[str], reads: int) -> dict[str, float]:
    whole, least = run_process(command, 2)["cpu"], run_process(one, 2)["cpu"]
    return {"CPU s": whole, "ms/read": 1000 * (whole - least) / reads}


if __name__ == "__main__":
    main()
