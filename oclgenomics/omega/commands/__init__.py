"""`oclgenomics omega`: selective sweeps along chromosomes or simulated replicates, their thresholds and peaks."""

from __future__ import annotations

import argparse
from typing import Any

from oclgenomics.app.commands import OneLineParser, add_device_options, add_output_options
from oclgenomics.app.files import reads, writes
from oclgenomics.app.inputs import add_reading_options
from oclgenomics.errors import UsageError
from oclgenomics.omega.commands import ld as omega_ld
from oclgenomics.omega.commands import peaks as omega_peaks
from oclgenomics.omega.commands import threshold as omega_threshold
from oclgenomics.omega.commands.options import add_method_options, add_site_options, add_window_options, threshold_files
from oclgenomics.omega.commands.report_names import report_files

__all__ = ["add_parser", "run"]

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


class ScanParser(OneLineParser):
    """Takes OmegaPlus' option names too."""

    def parse_known_args(self, args: Any = None, namespace: Any = None) -> Any:
        words: list[str] = []
        for word in args or []:
            if word in NOT_TAKEN:
                raise UsageError(f"{word}: {NOT_TAKEN[word]}")
            words += OMEGAPLUS_NAMES.get(word, [word])
        return super().parse_known_args(words, namespace)


def add_parser(subparsers: Any) -> None:
    """Add `omega` and what it does to the command line."""
    parser = subparsers.add_parser("omega", help="selective sweeps by linkage disequilibrium (omega statistic)")
    actions = parser.add_subparsers(dest="action", metavar="ACTION", required=True, parser_class=ScanParser)
    scan = actions.add_parser(
        "scan",
        help="scan alignments for selective sweeps",
        description="Compute the omega statistic at evenly spaced positions of every chromosome or replicate. The "
        "single-dash names of OmegaPlus (-grid, -minwin, -sampleList, ...) work, too.",
        allow_abbrev=False,
    )
    scan.set_defaults(run=run)
    alignments = scan.add_argument(
        "input", metavar="INPUT",
        help="ms, MaCS, FASTA or VCF, plain or packed (gzip, bzip2, xz, zstd), - for standard input; "
        "a tree sequence or a VCF Zarr",
    )  # fmt: skip
    reads(alignments)
    add_window_options(scan)
    _add_input_options(scan)
    add_site_options(scan)
    add_method_options(scan)
    _add_report_options(scan)
    add_output_options(scan, report_files)
    add_device_options(scan)
    omega_threshold.add_parser(actions)
    omega_peaks.add_parser(actions)
    omega_ld.add_parser(actions)


def _add_input_options(parser: argparse.ArgumentParser) -> None:
    group = parser.add_argument_group("input")
    add_reading_options(group)
    samples = group.add_argument(
        "--samples", metavar="FILE",
        help="samples of a VCF, VCF Zarr or tree sequence to use, one per line (default: all)",
    )  # fmt: skip
    reads(samples)
    writes(
        group.add_argument("--samples-out", metavar="FILE", help="write the names of the samples used, one per line")
    )
    regions = group.add_argument(
        "--exclude",
        metavar="BED",
        help="leave out the sites within these regions; plain or packed (gzip, bzip2, xz, zstd) (default: none)",
    )
    reads(regions)


def _add_report_options(parser: argparse.ArgumentParser) -> None:
    group = parser.add_argument_group("report")
    group.add_argument("--format", metavar="tsv|omegaplus|json", help="format of the report (default: tsv)")
    group.add_argument(
        "--all", action="store_true", help="window borders in the omegaplus format; the others always have them"
    )
    group.add_argument("--no-separator", action="store_true", help="no // lines in the omegaplus format")
    group.add_argument(
        "--reports", action="store_true", help="one file per chromosome or replicate: -o out.tsv gives out.NAME.tsv"
    )
    writes(group.add_argument("--plot", metavar="FILE", help="draw omega along the positions; .png, .svg or .pdf"))
    threshold = group.add_argument(
        "--threshold", metavar="OMEGA|FILE",
        help="draw lines in the figure at this omega, or at those of `omega threshold --json -o FILE`",
    )  # fmt: skip
    reads(threshold, threshold_files)


def run(args: argparse.Namespace) -> int:
    """Scan an input and write the report and the figure.

    Raises
    ------
    UsageError, InputError, DeviceError, OutputError
        See the exit codes of `oclgenomics.errors`.
    """
    from oclgenomics.omega.commands.scan import scan_input

    return scan_input(args)
