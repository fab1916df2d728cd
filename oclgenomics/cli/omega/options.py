"""The options that a scan, the replicates of a threshold and an LD map have in common, and what they mean."""

from __future__ import annotations

import argparse
import math
import re
from typing import TYPE_CHECKING

from oclgenomics.cli import options as common
from oclgenomics.errors import UsageError

if TYPE_CHECKING:
    from oclgenomics.omega.options import MissingState, ScanOptions
    from oclgenomics.omega.significance.threshold_file import ThresholdFile
    from oclgenomics.variation.alignment import Alignment
    from oclgenomics.variation.read_options import ReadOptions

__all__ = [
    "add_method_options",
    "add_reading_options",
    "add_site_options",
    "add_window_options",
    "count",
    "given_threshold",
    "read_options",
    "say_unphased",
    "scan_options",
    "threshold_files",
    "whole",
]

LARGEST = 1e15  # of a count: any whole number up to it is exact in float64
SHOWN_TEXT = 40
UNITS = {"": 1, "K": 1_000, "M": 1_000_000}
IMPUTE_NAMES: dict[str, MissingState] = {"N": "N", "GAP": "GAP", "G": "GAP", "-": "GAP"}


def add_window_options(parser: argparse.ArgumentParser, *, required: bool = True) -> None:
    """Add the grid and the size of the windows; without `required` they are None where not given."""
    group = parser.add_argument_group("positions and windows")
    group.add_argument("--grid", type=count, required=required, metavar="N", help="positions per alignment, at least 2")
    group.add_argument(
        "--minwin", type=count, required=required, metavar="BP",
        help="a window reaches at least so far from its position, on both sides; 1000, 10k, 1M",
    )  # fmt: skip
    group.add_argument("--maxwin", type=count, required=required, metavar="BP", help="and at most so far")
    group.add_argument(
        "--minsnps", type=count, default=5, metavar="N", help="fewest sites on each side (default: %(default)s)"
    )
    group.add_argument(
        "-b", "--border", type=whole, default=-1, metavar="B",
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
        "--phase", default="auto", metavar="NAME",
        help="unphased calls of a VCF or VCF Zarr: auto (genotype r2 for a chromosome that has any), missing (take "
        "them as missing), strict (refuse them) or ignore (take the order of alleles as it is) (default: %(default)s)",
    )  # fmt: skip
    group.add_argument(
        "--threads", type=count, metavar="N",
        help="host threads that unpack and read the input (default: one per CPU, at most 4)",
    )  # fmt: skip


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
    group.add_argument("--seed", type=whole, metavar="N", help=seed_help)


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
        "--kernel",
        default="auto",
        metavar="KERNEL",
        help="auto, 1, 2, dynamic or tiles; results do not change (default: %(default)s)",
    )


def count(text: str) -> int:
    """Read a whole number, also with thousands written as in 10k, 1.5M or 1e6.

    Raises
    ------
    argparse.ArgumentTypeError
        It is something else, or larger than 1e15.
    """
    match = re.fullmatch(r"([0-9]+(?:\.[0-9]+)?(?:[eE][0-9]+)?)([kKmM]?)", text.replace("_", ""))
    value = float(match[1]) * UNITS[match[2].upper()] if match else 0.5
    if value > LARGEST:
        raise argparse.ArgumentTypeError(f"{shortened(text)} is too large; {LARGEST:g} is the most")
    if value != int(value):
        raise argparse.ArgumentTypeError(f"{shortened(text)} is not a whole number; write 100000, 100k or 0.1M")
    return int(value)


def whole(text: str) -> int:
    """Read a whole number, which may be negative.

    Raises
    ------
    argparse.ArgumentTypeError
        It is something else, or has more than 18 digits.
    """
    if not re.fullmatch(r"[-+]?[0-9]{1,18}", text.strip()):
        raise argparse.ArgumentTypeError(f"{shortened(text)} is not a whole number of at most 18 digits")
    return int(text)


def shortened(text: str) -> str:
    """What was given, as a message shows it."""
    return repr(text if len(text) <= SHOWN_TEXT else text[:SHOWN_TEXT] + "...")


def scan_options(args: argparse.Namespace) -> ScanOptions:
    """The parameters of the scan.

    Raises
    ------
    UsageError
        A value out of range.
    """
    from oclgenomics.omega.options import ScanOptions
    from oclgenomics.variation.phase import PHASES

    unknown = [name for name in args.impute if name.upper() not in IMPUTE_NAMES]
    if unknown:
        raise UsageError(f"--impute {unknown[0]}: choose N or GAP; give the option twice for both")
    if args.length is not None and args.length < 1:
        raise UsageError(f"--length {args.length}: the region is at least 1 bp long")
    if args.threads is not None and args.threads < 1:
        raise UsageError(f"--threads {args.threads}: give 1 or more")
    if args.phase not in PHASES:
        raise UsageError(f"--phase {args.phase}: choose one of {', '.join(PHASES)}")
    return ScanOptions(
        grid=args.grid,
        minwin=args.minwin,
        maxwin=args.maxwin,
        minsnps=args.minsnps,
        border=args.border,
        ld=args.ld,
        precision=args.precision,
        kernel=args.kernel,
        maf=args.maf,
        no_singletons=args.no_singletons,
        binary=args.binary,
        impute=frozenset(IMPUTE_NAMES[name.upper()] for name in args.impute),
        seed=args.seed,
    )


def read_options(args: argparse.Namespace, samples: str | None = None) -> ReadOptions:
    """What is read of an input.

    Parameters
    ----------
    samples : str, optional
        The file of the samples to keep.

    Raises
    ------
    UsageError
        A value out of range.
    """
    from oclgenomics.variation.read_options import FORMATS, ReadOptions

    if args.input_format not in (None, *FORMATS):
        raise UsageError(f"--input-format {args.input_format}: choose one of {', '.join(FORMATS)}")
    return ReadOptions(length=args.length, format=args.input_format, samples=samples, phase=args.phase)


def say_unphased(args: argparse.Namespace, alignment: Alignment) -> None:
    """Tell how many calls of an alignment are not phased, and what that does."""
    count, ploidy = alignment.unphased_calls, alignment.ploidy
    if not count:
        return
    many = f"{alignment.name}: {count:,} of {alignment.sites * alignment.haplotypes // ploidy:,} calls"
    verb = "is" if count == 1 else "are"
    if alignment.unphased:
        what = (
            f"{verb} heterozygous and unphased, so r2 is computed from genotypes (--phase missing takes such calls as "
            "missing, strict refuses them, ignore takes the order of their alleles as it is)"
        )
    else:
        what = f"{verb} unphased and taken as missing"
    common.say(args, f"{many} {what}")


def threshold_files(args: argparse.Namespace, text: str) -> list[str]:
    """The files that an option's threshold names, as `oclgenomics.commandkit.files.reads` asks for them."""
    try:
        float(text)
    except ValueError:
        return [text]
    return []


def given_threshold(text: str) -> float | ThresholdFile:
    """Read a threshold as options give it: an omega, or a file of `omega threshold --json`.

    Raises
    ------
    UsageError
        A number that is no omega.
    InputError
        A file that cannot be read or is something else.
    """
    from oclgenomics.omega.significance.threshold_file import read_thresholds

    try:
        omega = float(text)
    except ValueError:
        return read_thresholds(text)
    if not (math.isfinite(omega) and omega >= 0):
        raise UsageError(f"--threshold {text}: an omega is 0 or more")
    return omega
