"""What commands read of alignments: the options, what they stand for, and what is told of unphased calls."""

from __future__ import annotations

import argparse
from typing import TYPE_CHECKING

from oclgenomics.app.commands import count
from oclgenomics.app.output import say
from oclgenomics.errors import UsageError

if TYPE_CHECKING:
    from oclgenomics.variation.alignment import Alignment
    from oclgenomics.variation.read_options import ReadOptions

__all__ = ["add_reading_options", "read_options", "say_haploid", "say_unphased"]


def add_reading_options(group: argparse._ArgumentGroup) -> None:
    """Add what every input of alignments may need."""
    group.add_argument("--length", type=count, metavar="BP", help="length of the region; ms and MaCS need it")
    group.add_argument(
        "--input-format", metavar="NAME",
        help="ms, mbs, macs, fasta, vcf, trees or vcz (default: from the content)",
    )  # fmt: skip
    group.add_argument(
        "--phase", default="auto", metavar="NAME",
        help="unphased calls of a VCF or VCF Zarr: auto (genotype r2 for a chromosome that has any), missing (take "
        "them as missing), strict (refuse them) or ignore (take the order of alleles as phase) (default: %(default)s)",
    )  # fmt: skip
    group.add_argument(
        "--threads", type=count, metavar="N",
        help="host threads that decompress and parse the input (default: one per CPU, at most 4)",
    )  # fmt: skip


def read_options(args: argparse.Namespace, samples: str | None = None) -> ReadOptions:
    """Return what is read of an input.

    Parameters
    ----------
    args : Namespace
        With the options of `add_reading_options`.
    samples : str, optional
        The file of the samples to keep.

    Raises
    ------
    UsageError
        A value out of range.
    """
    from oclgenomics.variation.phase import PHASES
    from oclgenomics.variation.read_options import FORMATS, ReadOptions

    if args.length is not None and args.length < 1:
        raise UsageError(f"--length {args.length}: the region is at least 1 bp long")
    if args.threads is not None and args.threads < 1:
        raise UsageError(f"--threads {args.threads}: give 1 or more")
    if args.phase not in PHASES:
        raise UsageError(f"--phase {args.phase}: choose one of {', '.join(PHASES)}")
    if args.input_format not in (None, *FORMATS):
        raise UsageError(f"--input-format {args.input_format}: choose one of {', '.join(FORMATS)}")
    return ReadOptions(length=args.length, format=args.input_format, samples=samples, phase=args.phase)


def say_unphased(args: argparse.Namespace, alignment: Alignment) -> None:
    """Tell how many calls of an alignment are not phased, and what that does."""
    calls, ploidy = alignment.unphased_calls, alignment.ploidy
    if not calls:
        return
    many = f"{alignment.name}: {calls:,} of {alignment.sites * alignment.haplotypes // ploidy:,} calls"
    verb = "is" if calls == 1 else "are"
    if alignment.unphased:
        what = (
            f"{verb} heterozygous and unphased, so r2 is computed from genotypes (--phase missing takes such calls as "
            "missing, strict refuses them, ignore takes the order of their alleles as it is)"
        )
    else:
        what = f"{verb} unphased and taken as missing"
    say(args, f"{many} {what}")


def say_haploid(args: argparse.Namespace, alignment: Alignment) -> None:
    """Tell how many samples of an alignment are haploid among diploid ones, and what that does."""
    if alignment.haploid is None:
        return
    haploid = alignment.haplotypes - alignment.copies
    if haploid:
        who = f"{haploid:,} of {alignment.haplotypes // 2:,} samples {'is' if haploid == 1 else 'are'} haploid"
    else:
        who = "some calls are haploid"
    what = "count as homozygous genotypes" if alignment.unphased else "count as one haplotype each"
    say(args, f"{alignment.name}: {who}; haploid calls {what}")
