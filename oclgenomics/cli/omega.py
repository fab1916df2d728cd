"""`oclgenomics omega`: selective sweeps along chromosomes or simulated replicates, their thresholds and peaks.

The options that a scan and the replicates of a threshold have in common are defined once, here.
"""

from __future__ import annotations

import argparse
import re
from typing import Any, NoReturn

from oclgenomics.cli import common
from oclgenomics.errors import UsageError

__all__ = [
    "add_method_options",
    "add_parser",
    "add_reading_options",
    "add_site_options",
    "add_window_options",
    "count",
    "run",
]

# Names OmegaPlus' users know; `-input FILE` becomes the positional argument.
OMEGAPLUS_NAMES = {
    "-grid": ["--grid"], "-minwin": ["--minwin"], "-maxwin": ["--maxwin"], "-length": ["--length"],
    "-minsnps": ["--minsnps"], "-maf": ["--maf"], "-no-singletons": ["--no-singletons"], "-binary": ["--binary"],
    "-impute": ["--impute"], "-seed": ["--seed"], "-ld": ["--ld"], "-sampleList": ["--samples"],
    "-sampleList_out": ["--samples-out"], "-all": ["--all"], "-noSeparator": ["--no-separator"],
    "-reports": ["--reports"], "-input": [], "-mbs": ["--input-format", "mbs"],
}  # fmt: skip
NOT_TAKEN = {
    "-threads": "the device's own parallelism is used to scan; --threads N are those that read the input",
    "-memLimit": "use --max-memory",
    "-name": "use --format omegaplus -o OmegaPlus_Report.NAME",
}
UNITS = {"": 1, "K": 1_000, "M": 1_000_000}


class ScanParser(argparse.ArgumentParser):
    """Takes OmegaPlus' option names too, and says what is wrong in one line."""

    def parse_known_args(self, args: Any = None, namespace: Any = None) -> Any:
        words: list[str] = []
        for word in args or []:
            if word in NOT_TAKEN:
                raise UsageError(f"{word}: {NOT_TAKEN[word]}")
            words += OMEGAPLUS_NAMES.get(word, [word])
        known, unknown = super().parse_known_args(words, namespace)
        if unknown:
            self.error(f"unknown arguments: {' '.join(unknown)}")
        return known, unknown

    def error(self, message: str) -> NoReturn:
        raise UsageError(f"{message} (options: {self.prog} --help)")


def add_parser(subparsers: Any) -> None:
    """Add `omega` and what it does to the command line."""
    from oclgenomics.cli import omega_ld, omega_peaks, omega_threshold  # they take their option groups from here

    parser = subparsers.add_parser("omega", help="selective sweeps by linkage disequilibrium (omega statistic)")
    actions = parser.add_subparsers(dest="action", metavar="ACTION", required=True, parser_class=ScanParser)
    scan = actions.add_parser(
        "scan",
        help="scan alignments for selective sweeps",
        description="Compute the omega statistic at evenly spaced positions of every chromosome or replicate. The "
        "single-dash names of OmegaPlus (-grid, -minwin, -sampleList, ...) are taken as well.",
        allow_abbrev=False,
    )
    scan.set_defaults(run=run)
    scan.add_argument(
        "input", metavar="INPUT",
        help="ms, MaCS, FASTA or VCF, plain or gzip, - for standard input; a tree sequence or a VCF Zarr",
    )  # fmt: skip
    add_window_options(scan)
    _add_input_options(scan)
    add_site_options(scan)
    add_method_options(scan)
    _add_report_options(scan)
    common.add_output_options(scan)
    common.add_device_options(scan)
    omega_threshold.add_parser(actions)
    omega_peaks.add_parser(actions)
    omega_ld.add_parser(actions)


def add_window_options(parser: argparse.ArgumentParser) -> None:
    """Add the grid and the size of the windows."""
    group = parser.add_argument_group("positions and windows")
    group.add_argument("--grid", type=count, required=True, metavar="N", help="positions per alignment, at least 2")
    group.add_argument(
        "--minwin", type=count, required=True, metavar="BP",
        help="a window reaches at least so far from its position, on both sides; 1000, 10k, 1M",
    )  # fmt: skip
    group.add_argument("--maxwin", type=count, required=True, metavar="BP", help="and at most so far")
    group.add_argument(
        "--minsnps", type=count, default=5, metavar="N", help="fewest sites on each side (default: %(default)s)"
    )
    group.add_argument(
        "-b", "--border", type=int, default=-1, metavar="B",
        help="compare only windows whose halves differ by at most B sites; -1: all (default: %(default)s)",
    )  # fmt: skip


def add_reading_options(group: argparse._ArgumentGroup) -> None:
    """Add what every input of alignments may need."""
    group.add_argument("--length", type=count, metavar="BP", help="length of the region; ms and MaCS need it")
    group.add_argument(
        "--input-format", metavar="NAME",
        help="ms, mbs, macs, fasta, vcf, trees or vcz (default: by its content)",
    )  # fmt: skip
    group.add_argument(
        "--phase", default="auto", metavar="auto|ignore",
        help="auto: genotype r2 where a VCF or VCF Zarr has unphased calls; ignore: take the order of alleles as it is "
        "(default: %(default)s)",
    )  # fmt: skip
    group.add_argument(
        "--threads", type=count, metavar="N",
        help="host threads that unpack and read the input (default: one per CPU, at most 4)",
    )  # fmt: skip


def _add_input_options(parser: argparse.ArgumentParser) -> None:
    group = parser.add_argument_group("input")
    add_reading_options(group)
    group.add_argument(
        "--samples", metavar="FILE",
        help="samples of a VCF, VCF Zarr or tree sequence to use, one a line (default: all)",
    )  # fmt: skip
    group.add_argument("--samples-out", metavar="FILE", help="write the names of the samples used, one a line")
    group.add_argument(
        "--exclude", metavar="BED", help="leave out the sites within these regions; plain or gzip (default: none)"
    )


def add_site_options(parser: argparse.ArgumentParser, seed_help: str = "seed of the draws, 1 or more") -> None:
    """Add the filters of sites and the draws."""
    group = parser.add_argument_group("sites")
    group.add_argument(
        "--maf", type=float, default=0.0, metavar="F",
        help="leave out sites with a rarer allele, 0 to 0.5 (default: %(default)s)",
    )  # fmt: skip
    group.add_argument("--no-singletons", action="store_true", help="leave out sites where a state is seen once")
    group.add_argument(
        "--binary", action="store_true", help="reduce sites to their two commonest states, by draws (needs --seed)"
    )
    group.add_argument(
        "--impute", action="append", default=[], metavar="N|GAP",
        help="fill unknown states (N) or gaps by draws (needs --seed); may be given twice "
        "(default: missing states are left out pair by pair)",
    )  # fmt: skip
    group.add_argument("--seed", type=int, metavar="N", help=seed_help)


def add_method_options(parser: argparse.ArgumentParser) -> None:
    """Add how omega is computed."""
    group = parser.add_argument_group("method")
    group.add_argument(
        "--ld", default="RSQUARE", type=str.upper, metavar="MEASURE",
        help="RSQUARE, D, ABSD, DOM, ABSDOM or ABSDOM2 (default: %(default)s)",
    )  # fmt: skip
    group.add_argument(
        "--precision", default="accurate", metavar="accurate|compat",
        help="compat: OmegaPlus' float32 arithmetic, for reports equal to its own (default: %(default)s)",
    )  # fmt: skip
    group.add_argument(
        "--kernel", default="auto", metavar="KERNEL",
        help="auto, 1, 2, dynamic or tiles; results do not change (default: %(default)s)"
    )


def _add_report_options(parser: argparse.ArgumentParser) -> None:
    group = parser.add_argument_group("report")
    group.add_argument("--format", metavar="tsv|omegaplus|json", help="format of the report (default: tsv)")
    group.add_argument("--all", action="store_true", help="window borders in the omegaplus format; others have them")
    group.add_argument("--no-separator", action="store_true", help="no // lines in the omegaplus format")
    group.add_argument(
        "--reports", action="store_true", help="one file per chromosome or replicate: its name is put into that of -o"
    )
    group.add_argument("--plot", metavar="FILE", help="draw omega along the positions; .png, .svg or .pdf")
    group.add_argument(
        "--threshold", metavar="OMEGA|FILE",
        help="draw a line into the figure at this omega, or at those of `omega threshold --json -o FILE`",
    )  # fmt: skip


def run(args: argparse.Namespace) -> int:
    """Scan an input and write the report and the figure.

    Raises
    ------
    UsageError, InputError, DeviceError, OutputError
        See the exit codes of `oclgenomics.errors`.
    """
    from oclgenomics.cli.omega_scan import scan_input

    return scan_input(args)


def count(text: str) -> int:
    """Read a whole number, also with thousands written as in 10k, 1.5M or 1e6."""
    match = re.fullmatch(r"(\d+(?:\.\d+)?(?:[eE]\d+)?)([kKmM]?)", text.replace("_", ""))
    value = float(match[1]) * UNITS[match[2].upper()] if match else 0.5
    if value != int(value):
        raise argparse.ArgumentTypeError(f"{text!r} is not a whole number; write 100000, 100k or 0.1M")
    return int(value)
