"""CPU seconds of CLR along a VCF, and of SweepFinder2 and SweeD in turn.

    python benchmarks/sweeps_clr.py chr20.vcf [--samples FILE] [--grid 100,1000] [--sweepfinder BIN] [--sweed BIN]
        [--repeat N] [--json FILE]

SweepFinder2 reads the same sites from its own table, with the spectrum of all of them, neither of which is timed. SweeD
takes all samples of the VCF, which has to be uncompressed. Ratios are compared with those of SweepFinder2.
"""

from __future__ import annotations

import argparse
import sys
import tempfile
from pathlib import Path
from typing import Any

import numpy as np
from measure import machine, run_process, table, write_json

from oclgenomics.runtime import select_device
from oclgenomics.sweeps import SweepOptions, read_report
from oclgenomics.sweeps.sites.used import used_sites
from oclgenomics.sweeps.statistics.clr import SiteClasses, background
from oclgenomics.variation import ReadOptions
from oclgenomics.variation.sources import open_alignments


def write_table(source: str, samples: str | None, folder: Path) -> None:
    """The sites of a VCF and their spectrum, as SweepFinder2 takes them."""
    names = None if samples is None else tuple(Path(samples).read_text().split())
    (alignment,) = open_alignments(source, ReadOptions(samples=names))
    used = used_sites(alignment, SweepOptions(statistics=("clr",)), None, None)
    columns = zip(used.positions.tolist(), used.derived.tolist(), used.observed.tolist(), strict=True)
    rows = "".join(f"{place:.0f}\t{derived}\t{observed}\t0\n" for place, derived, observed in columns)
    (folder / "sites").write_text("position\tx\tn\tfolded\n" + rows)
    shares = background(SiteClasses.among(used.derived, used.observed, folded=False))
    (folder / "spectrum").write_text("".join(f"{i}\t{share:.12e}\n" for i, share in enumerate(shares[:-1])))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("input", metavar="VCF")
    parser.add_argument("--device", "-d", default="auto")
    parser.add_argument("--samples", metavar="FILE")
    parser.add_argument("--grid", default="100,1000")
    parser.add_argument("--sweepfinder", metavar="BIN")
    parser.add_argument("--sweed", metavar="BIN")
    parser.add_argument("--repeat", type=int, default=2)
    parser.add_argument("--json", metavar="FILE")
    args = parser.parse_args()
    results: list[dict[str, Any]] = []
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        chosen = [] if args.samples is None else ["--samples", args.samples]
        sites, spectrum = str(folder / "sites"), str(folder / "spectrum")
        if args.sweepfinder:
            write_table(args.input, args.samples, folder)
        for grid in args.grid.split(","):
            own = [sys.executable, "-m", "oclgenomics", "sweeps", "scan", args.input, *chosen, "--stat", "clr"]
            own += ["--grid", grid, "-d", args.device, "-q", "-o", str(folder / "own.tsv")]
            programs = {"sweeps scan": own}
            if args.sweepfinder:
                programs["SweepFinder2"] = [args.sweepfinder, "-l", grid, sites, spectrum, str(folder / "theirs")]
            if args.sweed:
                programs["SweeD"] = [args.sweed, "-name", "x", "-input", str(Path(args.input).resolve()), "-grid", grid]
            for program, command in programs.items():
                results.append(
                    {"program": program, "grid": int(grid), **run_process(command, args.repeat, folder=folder)}
                )
            if args.sweepfinder:
                theirs = np.loadtxt(folder / "theirs", skiprows=1)
                (scan,) = read_report(folder / "own.tsv")
                difference = float(np.abs(theirs[:, 1] - scan.values["clr"]).max())
                print(f"grid {grid}: largest difference of a ratio from SweepFinder2's {difference:.2g}")
    print(table(results))
    record = {"benchmark": "sweeps_clr", "machine": machine(select_device(args.device)), "results": results}
    write_json(args.json, record)


if __name__ == "__main__":
    main()
