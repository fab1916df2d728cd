"""How fast `oclgenomics fpga run` is: whole processes, omegas a second and peak memory.

    python benchmarks/fpga_run.py [--repeat 3] [--device cpu] [--json FILE]

The data are 1000 Genomes sites of chromosome 20 that the tests have, and sites simulated without selection. The median
of the repeats counts. The bound is arithmetic: one omega takes two additions, three subtractions and three divisions of
float32, each a pass over NumPy arrays in the cache, and M takes three additions an element.
"""

from __future__ import annotations

import argparse
import json
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any

from measure import host, run_process, table, write_json

CHROMOSOME = Path(__file__).parents[1] / "tests/data/omega/chr20_1000G_300samples.vcf.gz"
WINDOWS = ("--grid", "500", "--minwin", "1000", "--maxwin", "100000")
MATRICES = ("float32", "exact")
OURS = (sys.executable, "-m", "oclgenomics")


def inputs(folder: Path) -> dict[str, tuple[str, ...]]:
    """The words after `fpga run` of each data set."""
    neutral = folder / "neutral.ms"
    made = (
        "simulate",
        "omega",
        "--replicates",
        "1",
        "--samples",
        "100",
        "--sites",
        "6000",
        "--seed",
        "1",
        "-o",
        str(neutral),
    )
    subprocess.run([*OURS, *made], check=True)
    grid = ("--grid", "200", "--minwin", "1000", "--maxwin", "100000", "--length", "1000000")
    return {"chr20": (str(CHROMOSOME), *WINDOWS), "neutral": (str(neutral), *grid)}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--repeat", type=int, default=3)
    parser.add_argument("--device", default="cpu")
    parser.add_argument("--json", metavar="FILE")
    args = parser.parse_args()
    rows: list[dict[str, Any]] = []
    with tempfile.TemporaryDirectory() as folder:
        out = Path(folder) / "out.json"
        for name, words in inputs(Path(folder)).items():
            for matrix in MATRICES:
                command = [
                    *OURS,
                    "fpga",
                    "run",
                    *words,
                    "--matrix",
                    matrix,
                    "-d",
                    args.device,
                    "--json",
                    "-o",
                    str(out),
                ]
                timed = run_process(command, args.repeat)
                omegas = sum(one["omegas"] for one in json.loads(out.read_text())["alignments"])
                rate = omegas / 1e6 / timed["median"]
                rows.append({"data": name, "matrix": matrix, "omegas": omegas, **timed, "Momega_per_s": rate})
    record = {"benchmark": "fpga_run", "machine": host(), "runs": rows}
    print(table(rows))
    write_json(args.json, record)


if __name__ == "__main__":
    main()
