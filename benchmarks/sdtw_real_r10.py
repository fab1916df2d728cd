"""Real R10.4.1 reads (4 kHz, human) that a public repository holds: how well sDTW tells two regions apart.

    python benchmarks/sdtw_real_r10.py --model LEVELS --folder FOLDER [-d auto] [--rawhash2 PROGRAM] [--json FILE]

FOLDER has, of tests/data of github.com/nanoporetech/remora: can_reads.pod5, can_mappings.bam, mod_reads.pod5,
mod_mappings.bam (28 reads of a region of chromosome 13), duplex_reads.pod5 and simplex_reads_mapped.bam (8 reads of two
regions of chromosome 17). The sequences of the regions are put together from the alignments. The target is one
chromosome's, then the other's. Reads begin as they came (with `--trim stall`), and are cut into pieces after that: each
piece is judged by itself. A threshold is the one with the highest F, on the same pieces; `held out` is the F of each
read by the threshold of the other reads' pieces. `easy`, `normal` and `hard` are by the thresholds of `sdtw calibrate`
with that difficulty. A second table has what is kept of the targets' beginnings by what is left out of them.
`--rawhash2` has the same pieces mapped by RawHash2, whose mapping quality is then the threshold.
"""

from __future__ import annotations

import argparse
import subprocess
import tempfile
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pysam
from measure import machine, table, write_json
from numpy.typing import NDArray
from sdtw_mappers import PRESETS as PEERS, qualities, write_slow5
from sdtw_r10 import best_threshold, levels, write_levels

from oclgenomics.runtime import Engine, select_device
from oclgenomics.sdtw import AlignOptions, align, build_squiggle, calibrate
from oclgenomics.sdtw.squiggles.opened import options_for
from oclgenomics.signals import Signals, read_signals
from oclgenomics.signals.sequencing import sequencing_of
from oclgenomics.signals.trimming import TrimOptions, trim_start
from oclgenomics.simulate.signals.drawing import PRESETS, preset_for
from oclgenomics.simulate.signals.reads import random_genome, read_genome, simulate_signals

FILES = {"chr13": (("can_reads.pod5", "can_mappings.bam"), ("mod_reads.pod5", "mod_mappings.bam")),
         "chr17": (("duplex_reads.pod5", "simplex_reads_mapped.bam"),)}  # fmt: skip
PREFIXES = (1000, 2000, 3000, 4000)
RATE, PIECE, PIECES = 4000.0, 4000, 12  # samples of a piece; pieces of a read at most
SIMULATED = 200
EXTRAS = (0, 500, 1100, 2000, 3000)  # samples


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--model", required=True, metavar="LEVELS")
    parser.add_argument("--folder", required=True, type=Path)
    parser.add_argument("-d", "--device", default="auto")
    parser.add_argument("--rawhash2", metavar="PROGRAM")
    parser.add_argument("--json", metavar="FILE")
    args = parser.parse_args()
    model = replace(levels(args.model), rate=RATE)
    rows, trims, peers = list[dict[str, Any]](), list[dict[str, Any]](), list[dict[str, Any]]()
    with tempfile.TemporaryDirectory() as name, Engine(select_device(args.device)) as engine:
        folder = Path(name)
        classes = {chromosome: pieces(args.folder, parts, model) for chromosome, parts in FILES.items()}
        for chromosome, (first, second) in {"chr13": ("chr13", "chr17"), "chr17": ("chr17", "chr13")}.items():
            fasta = folder / f"{chromosome}.fa"
            fasta.write_text(regions(args.folder, FILES[chromosome]))
            squiggle = build_squiggle(fasta, model)
            options = options_for(AlignOptions(), [squiggle])
            fixed = {name: simulated_thresholds(name, fasta, squiggle, options, model, engine) for name in PRESETS}
            costs = [
                align(classes[one][0], squiggle, options, prefixes=PREFIXES, trim=None, engine=engine).cost[:, :, 0]
                for one in (first, second)
            ]
            reads = [classes[one][1] for one in (first, second)]
            begins = [classes[one][2] for one in (first, second)]
            for place, prefix in enumerate(PREFIXES[:2]):
                limit = best_threshold(*(cost[:, place] for cost in costs))
                trims += trimmed(args.folder, first, squiggle, options, prefix, limit, engine)
            for place, prefix in enumerate(PREFIXES):
                rows.append({"target": f"{chromosome}, {squiggle.lengths.sum() / 1000:.0f} kbp", "samples": prefix}
                            | judged([cost[:, place] for cost in costs], reads, begins,
                                     {name: given[place] for name, given in fixed.items()}))  # fmt: skip
                for preset in PEERS if args.rawhash2 else ():
                    peers.append({"target": chromosome, "samples": prefix, "preset": preset} | mapped_by(
                        args, folder, preset, model, fasta, [classes[one] for one in (first, second)], prefix
                    ))  # fmt: skip
        record = {"rows": rows, "trims": trims, "rawhash2": peers, "model": model.name} | machine(engine.device)
    print(table(rows), table(trims), table(peers) if peers else "", sep="\n\n")
    write_json(args.json, record)


def pieces(folder: Path, parts: Any, model: Any) -> tuple[Signals, NDArray[np.int64], NDArray[np.bool_]]:
    """Pieces of mapped reads, the read of each, and which begin where the trimmed read does."""
    found, reads, begins = list[NDArray[np.int16]](), list[int](), list[bool]()
    units = list[tuple[float, float]]()
    known = sequencing_of(model.pore, "dna", model.rate)
    assert known is not None
    trim = known.trim
    count = 0
    for file_name, mapped in parts:
        with pysam.AlignmentFile(str(folder / mapped), check_sq=False) as file:
            names = {read.query_name for read in file if not read.is_secondary and not read.is_supplementary}
        for block in read_signals(folder / file_name):
            for place in (place for place, name in enumerate(block.names) if name in names):
                samples = block.read(place)
                start = trim_start(samples, trim)
                for first in range(start, len(samples) - PIECE, 2 * PIECE)[:PIECES]:
                    found.append(samples[first : first + PIECE])
                    reads.append(count)
                    begins.append(first == start)
                    units.append((float(block.scale[place]), float(block.offset[place])))
                count += 1
    scale, offset = np.array(units).T
    signals = Signals.of(found, scale=scale, offset=offset, rate=RATE, pore="R10", molecule="dna")
    return signals, np.array(reads), np.array(begins)


def mapped_by(
    args: argparse.Namespace, folder: Path, preset: str, model: Any, fasta: Path, classes: Any, prefix: int
) -> dict[str, Any]:
    """What RawHash2 makes of the same pieces."""
    index, table_of = folder / f"{fasta.stem}.{preset}.ind", folder / "levels.model"
    write_levels(table_of, model)
    command = [args.rawhash2, "-x", preset, "-t", "1", "--r10", "--bp-per-sec", "400", "--sample-rate", "4000"]
    subprocess.run([*command, "-p", table_of, "-d", index, fasta], check=True, capture_output=True)
    costs = []
    for number, (signals, *_) in enumerate(classes):
        write_slow5(path := folder / f"{number}.slow5", signals, prefix, RATE)
        costs.append(-qualities(command, index, path))
    threshold = min(best_threshold(*costs), 0.0)
    found, wrong = (one <= threshold for one in costs)
    return {"F": f_of(found, wrong), "recall": float(found.mean()), "false": float(wrong.mean())}


def trimmed(
    folder: Path, chromosome: str, squiggle: Any, options: AlignOptions, prefix: int, limit: float, engine: Engine
) -> list[dict[str, Any]]:
    """How many reads of the target are below a threshold at their beginnings, by what is left out."""
    whole = Signals.joined([block for signals, _ in FILES[chromosome] for block in read_signals(folder / signals)])
    rows = []
    for stall in (False, True):
        for extra in EXTRAS:
            trim = TrimOptions(stall=stall, extra=extra)
            starts = np.array([trim_start(whole.read(number), trim) for number in range(len(whole))])
            cut = whole.cut(starts, starts + prefix)
            cost = align(cut, squiggle, options, prefixes=(prefix,), trim=None, engine=engine).cost[:, 0, 0]
            rows.append({"target": chromosome, "samples": prefix, "stall": stall, "left out after it": extra,
                         "kept": int((cost <= limit).sum()), "reads": len(cost)})  # fmt: skip
    return rows


def regions(folder: Path, parts: Any) -> str:
    """FASTA of the stretches of the genome that reads cover, by their alignments."""
    bases: dict[tuple[str, int], str] = {}
    for _, mapped in parts:
        with pysam.AlignmentFile(str(folder / mapped), check_sq=False) as file:
            for read in file:
                for _, place, base in read.get_aligned_pairs(with_seq=True):
                    if place is not None and base is not None:
                        bases[read.reference_name, place] = base.upper()
    text, last = "", None
    for place in sorted(bases):
        if last is None or place[0] != last[0] or place[1] > last[1] + 1:
            text += f"{chr(10) if text else ''}>{place[0]}_{place[1]}\n"
        text, last = text + bases[place], place
    return text + "\n"


def simulated_thresholds(
    difficulty: str, fasta: Path, squiggle: Any, options: AlignOptions, model: Any, engine: Engine
) -> list[float]:
    """What `sdtw calibrate` chooses on simulated reads of the target and of random bases."""
    genomes = read_genome("target", fasta, SIMULATED), random_genome("other", 1_000_000, 0.41, SIMULATED, 3)
    scenario = replace(preset_for(difficulty, model, "dna"), samples=(PREFIXES[-1], PREFIXES[-1]))
    target, other = (
        Signals.joined([batch.signals for batch in simulate_signals([genome], model, scenario, 3)])
        for genome in genomes
    )
    report = calibrate(target, other, squiggle, options, prefixes=PREFIXES, trim=None, engine=engine)
    assert report.thresholds is not None
    return [stage.reject_above for stage in report.thresholds.stages]


def judged(
    costs: list[NDArray[np.float64]],
    reads: list[NDArray[np.int64]],
    begins: list[NDArray[np.bool_]],
    fixed: dict[str, float],
) -> dict[str, Any]:
    threshold = best_threshold(*costs)
    held = [np.zeros(len(one), np.bool_) for one in costs]
    for kind in (0, 1):
        for read in np.unique(reads[kind]):
            mine = reads[kind] == read
            rest = [costs[0][~mine] if kind == 0 else costs[0], costs[1][~mine] if kind == 1 else costs[1]]
            held[kind][mine] = costs[kind][mine] <= best_threshold(*rest)
    first = [costs[kind][begins[kind]] <= threshold for kind in (0, 1)]
    return {
        "pieces": [len(one) for one in costs], "reads": [len(set(one.tolist())) for one in reads],
        "F": f_of(*(one <= threshold for one in costs)), "held out F": f_of(*held),
        "recall": float(held[0].mean()), "false": float(held[1].mean()),
        "first pieces": [int(one.sum()) for one in first],
    } | {
        f"{name}: {word}": float((costs[kind] <= given).mean())
        for name, given in fixed.items() for kind, word in enumerate(("recall", "false"))
    }  # fmt: skip


def f_of(found: NDArray[np.bool_], wrong: NDArray[np.bool_]) -> float:
    recall, false = float(found.mean()), float(wrong.mean())
    return 2 * recall / (recall + false + 1)


if __name__ == "__main__":
    main()
