"""The options that a scan, the replicates of a threshold and an LD map have in common, and what they mean."""

from __future__ import annotations

import argparse
from typing import TYPE_CHECKING

from oclgenomics import omega
from oclgenomics.app import commands as app, peaks
from oclgenomics.app.files import reads
from oclgenomics.omega.options import missing_states

if TYPE_CHECKING:
    from oclgenomics.omega.significance.facts import Compared


def add_window_options(parser: argparse.ArgumentParser, *, required: bool = True) -> None:
    """Add the grid and the size of the windows; without `required` they are None where not given."""
    group = parser.add_argument_group("positions and windows")
    group.add_argument(
        "--grid", type=app.count, required=required, metavar="N", help="positions per alignment, at least 2"
    )
    group.add_argument(
        "--minwin", type=app.count, required=required, metavar="BP",
        help="smallest distance of a window's borders from its position; 1000, 10k, 1M",
    )  # fmt: skip
    group.add_argument(
        "--maxwin", type=app.count, required=required, metavar="BP",
        help="largest distance of a window's borders from its position",
    )  # fmt: skip
    group.add_argument(
        "--minsnps", type=app.count, default=5, metavar="N", help="fewest sites on each side (default: %(default)s)"
    )
    group.add_argument(
        "-b", "--border", type=app.whole, default=-1, metavar="B",
        help="compare only windows whose halves differ by at most B sites; -1 (with compat precision also 0): all "
        "(default: %(default)s)",
    )  # fmt: skip


def add_region_options(group: argparse._ArgumentGroup) -> None:
    """Add the regions that are left out."""
    reads(group.add_argument(
        "--exclude", metavar="BED",
        help="leave out the sites within these regions; uncompressed or compressed (gzip, bzip2, xz, zstd) "
        "(default: none)",
    ))  # fmt: skip


def add_site_options(parser: argparse.ArgumentParser, seed_help: str = "seed of the draws, 1 or more") -> None:
    """Add the filters of sites and the draws."""
    group = parser.add_argument_group("sites")
    group.add_argument(
        "--maf", type=float, default=0.0, metavar="F",
        help="leave out sites where a state is rarer than F, 0 to 0.5 (default: %(default)s)",
    )  # fmt: skip
    group.add_argument("--no-singletons", action="store_true", help="leave out sites where a state is seen once")
    group.add_argument(
        "--binary", action="store_true", help="reduce sites to their two most common states, by draws (needs --seed)"
    )
    group.add_argument(
        "--impute", action="append", default=[], metavar="N|GAP",
        help="fill unknown states (N) or gaps by draws (needs --seed); may be given twice "
        "(default: missing states are left out pair by pair)",
    )  # fmt: skip
    group.add_argument("--seed", type=app.whole, metavar="N", help=seed_help)


def add_method_options(parser: argparse.ArgumentParser) -> None:
    """Add how omega is computed."""
    group = parser.add_argument_group("method")
    group.add_argument(
        "--ld", default="RSQUARE", type=str.upper, metavar="MEASURE",
        help="measure of LD: RSQUARE, D, ABSD, DOM, ABSDOM or ABSDOM2 (default: %(default)s)",
    )  # fmt: skip
    group.add_argument(
        "--precision", default="accurate", metavar="accurate|compat",
        help="compat: OmegaPlus' float32 arithmetic, for the same reports (default: %(default)s)",
    )  # fmt: skip
    group.add_argument(
        "--kernel",
        default="auto",
        metavar="KERNEL",
        help="auto, 1, 2, dynamic or tiles; results do not depend on it (default: %(default)s)",
    )


def scan_options(args: argparse.Namespace) -> omega.ScanOptions:
    """The parameters of the scan.

    Raises
    ------
    UsageError
        A value out of range.
    """
    names = (
        "grid", "minwin", "maxwin", "minsnps", "border", "ld", "precision", "kernel", "maf", "no_singletons", "binary",
        "seed",
    )  # fmt: skip
    return omega.ScanOptions(
        **{name: getattr(args, name) for name in names},
        impute=missing_states(args.impute),
    )


def given_threshold(text: str) -> float | omega.Significance:
    """Read a threshold as options give it: an omega, or a file of `omega threshold --json`.

    Raises
    ------
    UsageError
        A number that is no omega.
    InputError
        A file that cannot be read or is something else.
    """
    return peaks.given_threshold(text, omega.read_thresholds, least=0, value="an omega is 0 or more")


def say_compared(args: argparse.Namespace, compared: Compared) -> None:
    """Tell what was compared with neutral replicates, and what may make rates mean something else."""
    app.say(args, f"compared with the replicates: {compared}")
    for warning in compared.warnings:
        app.say(args, f"warning: {warning}")
