"""What commands read, by kind: options of alignments, of raw nanopore signals and of sequences, and what they mean."""

from __future__ import annotations

import argparse
import math
from collections.abc import Callable, Iterable
from dataclasses import replace
from typing import TYPE_CHECKING, Protocol

from oclgenomics.app.commands import count, say, shortened
from oclgenomics.app.files import reads
from oclgenomics.errors import ParameterError, UsageError
from oclgenomics.lazy_names import late

if TYPE_CHECKING:
    from oclgenomics.signals.kmers import KmerModel
    from oclgenomics.signals.trimming import TrimOptions
    from oclgenomics.variation.read_options import ReadOptions

aligned_reads = late("oclgenomics.sequence.aligned_reads")
files = late("oclgenomics.sequence.files")
phase = late("oclgenomics.variation.read_options")
reading = late("oclgenomics.variation.read_options")
signals = late("oclgenomics.signals")
trimming = late("oclgenomics.signals.trimming")


def add_reading_options(group: argparse._ArgumentGroup) -> None:
    """Add what every input of alignments may need."""
    group.add_argument("--length", type=count, metavar="BP", help="length of the region; ms and MaCS need it")
    group.add_argument(
        "--input-format", metavar="NAME",
        help="ms, mbs, macs, fasta, vcf (BCF, too), trees or vcz (default: from the content)",
    )  # fmt: skip
    group.add_argument(
        "--phase", default="auto", metavar="NAME",
        help="unphased calls of a VCF or VCF Zarr: auto (genotypes for a chromosome that has any), missing (take "
        "them as missing), strict (refuse them) or ignore (take the order of alleles as phase) (default: %(default)s)",
    )  # fmt: skip


def add_region_to_read(group: argparse._ArgumentGroup) -> None:
    """Add --region; without it, `args` has no such name, so that outputs are as they were."""
    group.add_argument(
        "--region", type=_region, default=argparse.SUPPRESS, metavar="CHR[:FROM-[TO]]",
        help="the only records to read, by POS; VCF, BCF and VCF Zarr (default: all)",
    )  # fmt: skip


def add_input_options(parser: argparse.ArgumentParser) -> argparse._ArgumentGroup:
    """Add the options of the alignments that a scan reads; return their group."""
    group = parser.add_argument_group("input")
    add_reading_options(group)
    add_region_to_read(group)
    reads(group.add_argument(
        "--samples", metavar="FILE",
        help="samples of a VCF, VCF Zarr or tree sequence to use, one per line (default: all)",
    ))  # fmt: skip
    return group


def _region(text: str) -> str:
    """A region as `ReadOptions` has it, with positions as other options have them."""
    chromosome, colon, span = text.rpartition(":")
    if not colon:
        return text
    ends = [str(position(word)) if word else "" for word in span.split("-")]
    return f"{chromosome}:{'-'.join(ends)}"


def position(text: str) -> int:
    """Read a position within an option's value; commas between thousands may stand.

    Raises
    ------
    argparse.ArgumentTypeError
        It is none.
    """
    try:
        return count(text.replace(",", ""))
    except argparse.ArgumentTypeError:
        raise argparse.ArgumentTypeError(f"{text!r} is no position; write 1234567, 1,234,567 or 1.2M") from None


def read_options(args: argparse.Namespace, samples: str | None = None, region: str | None = None) -> ReadOptions:
    """Return what is read of an input.

    Parameters
    ----------
    args : Namespace
        With the options of `add_reading_options`.
    samples : str, optional
        The file of the samples to keep.
    region : str, optional
        As `add_region_to_read` gives it.

    Raises
    ------
    UsageError
        A value out of range.
    """
    if args.length is not None and args.length < 1:
        raise UsageError(f"--length {args.length}: the region is at least 1 bp long")
    if args.phase not in phase.PHASES:
        raise UsageError(f"--phase {args.phase}: choose one of {', '.join(phase.PHASES)}")
    if args.input_format not in (None, *reading.FORMATS):
        raise UsageError(f"--input-format {args.input_format}: choose one of {', '.join(reading.FORMATS)}")
    chosen = {"length": args.length, "format": args.input_format, "samples": samples, "phase": args.phase}
    found: ReadOptions = reading.ReadOptions(**chosen, region=region)
    return found


class ReadCalls(Protocol):
    """What messages say of the calls of an alignment, as `oclgenomics.variation.Alignment` has it."""

    @property
    def name(self) -> str: ...

    @property
    def sites(self) -> int: ...

    @property
    def haplotypes(self) -> int: ...

    @property
    def copies(self) -> int: ...

    @property
    def ploidy(self) -> int: ...

    @property
    def unphased(self) -> bool: ...

    @property
    def unphased_calls(self) -> int: ...

    @property
    def haploid(self) -> object: ...


def say_unphased(args: argparse.Namespace, alignment: ReadCalls, effect: str = "r2 is computed from genotypes") -> None:
    """Report how many calls of an alignment are not phased, and what that does."""
    calls, ploidy = alignment.unphased_calls, alignment.ploidy
    if not calls:
        return
    many = f"{alignment.name}: {calls:,} of {alignment.sites * alignment.haplotypes // ploidy:,} calls"
    verb = "is" if calls == 1 else "are"
    if alignment.unphased:
        what = (
            f"{verb} heterozygous and unphased, so {effect} (--phase missing takes such calls as "
            "missing, strict refuses them, ignore takes the order of their alleles as it is)"
        )
    else:
        what = f"{verb} unphased and taken as missing"
    say(args, f"{many} {what}")


def say_haploid(args: argparse.Namespace, alignment: ReadCalls, effect: str = "count as homozygous genotypes") -> None:
    """Report how many samples of an alignment are haploid among diploid ones, and what that does."""
    if alignment.haploid is None:
        return
    haploid = alignment.haplotypes - alignment.copies
    if haploid:
        who = f"{haploid:,} of {alignment.haplotypes // 2:,} samples {'is' if haploid == 1 else 'are'} haploid"
    else:
        who = "some calls are haploid"
    what = effect if alignment.unphased else "count as one haplotype each"
    say(args, f"{alignment.name}: {who}; haploid calls {what}")


FilesOf = Callable[[argparse.Namespace, str], Iterable[str]]


def reads_sequences(action: argparse.Action, files_of: FilesOf | None = None) -> argparse.Action:
    """Declare that an option names files of sequences to read; lists of files are read, too.

    Parameters
    ----------
    action : Action
    files_of : callable, optional
        Gives the files that a name means, such as those of a folder.
    """

    def names(args: argparse.Namespace, given: str) -> list[str]:
        found: list[str] = files.file_names([given]) if given.startswith("@") else [given]
        lists: list[str] = files.list_names([given]) if given.startswith("@") else []
        return lists + (found if files_of is None else [file for name in found for file in files_of(args, name)])

    return reads(action, names)


def add_reads_and_mates(
    parser: argparse.ArgumentParser, files: str, mates: str
) -> tuple[argparse.Action, argparse._ArgumentGroup]:
    """Add files of single reads, as `args.reads`, and those of mates, with how mates are found.

    Parameters
    ----------
    parser : ArgumentParser
    files, mates : str
        What the files are, for the help.

    Returns
    -------
    reads : Action
        The argument for the files.
    group : argument group
        Of the options, for more of them.
    """
    single = parser.add_argument(
        "reads", nargs="+", default=[], metavar="READS",
        help=f"{files}; - for standard input; @LIST for the files that a text file names, one a line; none if --paired "
        "names all",
    )  # fmt: skip
    single.required = False  # with nargs="*", argparse takes reads that stand behind an option for unknown
    reads_sequences(single)
    group = parser.add_argument_group("reads")
    paired = group.add_argument("--paired", nargs=2, action="extend", default=[], metavar="FILE", help=mates)
    reads_sequences(paired)
    add_reference_option(group)
    group.add_argument("--interleaved", action="store_true", help="mates follow each other in READS")
    group.add_argument("--any-mates", action="store_true", help="take mates that have different names as pairs")
    return single, group


def add_reference_option(group: argparse._ActionsContainer) -> None:
    """Add --reference; without it, `args` has no such name, so that outputs are as they were."""
    reads(group.add_argument(
        "--reference", default=argparse.SUPPRESS, metavar="FASTA",
        help="the sequences that CRAM files were made with, uncompressed or of bgzip, with an index next to it "
        "(samtools faidx)",
    ))  # fmt: skip


def with_reference(args: argparse.Namespace, names: Iterable[str]) -> list[str]:
    """Return the files of reads, those of lists included; they know --reference if it is given.

    Raises
    ------
    InputError
        A list that cannot be read, or a reference without an index.
    """
    found: list[str] = files.file_names(names)
    reference = None if getattr(args, "pieces", None) else getattr(args, "reference", None)
    return found if reference is None else aligned_reads.with_reference(found, reference)


MODEL_NAMES = ("r9.4.1", "r10.4.1", "rna002", "rna004")


def add_model_options(
    group: argparse._ArgumentGroup, *, default: str | None = None, required: bool = False, simulated: bool = False
) -> None:
    """Add --model, --reverse-kmers and --pore, and for simulated signals --current and --deviation; see `model_of`.

    Parameters
    ----------
    group : group of a parser
    default : str, optional
        The model that is taken if none is given; None for that of the reference.
    required : bool
        One has to be given.
    simulated : bool
        Signals are simulated by the model.
    """
    taken = default or "that of the reference, if it has a name here"
    model = group.add_argument(
        "--model", required=required, default=default, metavar="MODEL",
        help=f"k-mer model: {', '.join(MODEL_NAMES)} (`sdtw fetch-model` gets all but the first), or a table or .npz "
        f"file of one{'' if required else f' (default: {taken})'}",
    )  # fmt: skip
    reads(model, lambda _args, name: () if name in MODEL_NAMES else (name,))
    group.add_argument(
        "--reverse-kmers", action="store_true",
        help="the model has its k-mers from 3' to 5', as the legacy tables of RNA have",
    )  # fmt: skip
    group.add_argument(
        "--pore", metavar="PORE",
        help="pore that the model is for, as R9.4.1, R10.4.1 or RNA004 (default: the one that the model names)",
    )  # fmt: skip
    if simulated:
        group.add_argument(
            "--current", type=float, nargs=2, metavar=("MEAN", "SD"),
            help="pA to which the levels of a model in standard units are brought (default: those of the model, or of "
            "its pore)",
        )  # fmt: skip
        group.add_argument(
            "--deviation", type=float, metavar="SD",
            help="standard deviation of samples in the model's units, where it has none (default: that of its pore)",
        )  # fmt: skip


def model_of(args: argparse.Namespace, *, rate: float | None = None, pore: str = "") -> KmerModel:
    """Return the model of --model, with the pore of --pore.

    Parameters
    ----------
    args : Namespace
        With the options of `add_model_options`.
    rate : float, optional
        Samples per second that it is for, instead of what it says.
    pore : str
        Family of the pore, where neither the option nor the model says it.

    Raises
    ------
    ParameterError
        There is no such pore or rate, or a model that has a name here is for another pore.
    InputError
        The model cannot be read, or was not downloaded.
    """
    given = signals.pore_named(args.pore or "")
    if args.pore is not None and not given:
        raise ParameterError("pore", f"is none of {', '.join(signals.PORES)}", args.pore)
    if rate is not None and not 0 < rate < math.inf:
        raise ParameterError("rate", "give samples per second, above 0", rate)
    model = signals.read_model(args.model, reverse_kmers=args.reverse_kmers)
    if given and args.model in MODEL_NAMES and given != model.pore:
        raise ParameterError("pore", f"contradicts the model {args.model}, which is for {model.pore}", args.pore)
    found: KmerModel = replace(model, pore=given or model.pore or pore, rate=rate or model.rate)
    return found


LEFT_OUT = "what is left out at the beginning of reads"
THRESHOLDS_TRIM = "that of --thresholds, else stall"


def add_signal_inputs(parser: argparse.ArgumentParser) -> argparse.Action:
    """Add the files of signals, as `args.signals`, a list."""
    return reads(parser.add_argument(
        "signals", nargs="+", metavar="SIGNALS",
        help="POD5, FAST5, SLOW5, BLOW5, .npz or .npy; of a folder, all signals in it",
    ))  # fmt: skip


def add_signal_options(
    group: argparse._ArgumentGroup, *, max_samples: bool = False, default: str = "stall", what: str = LEFT_OUT
) -> None:
    """Add --trim, and --max-samples where a command has no other limit; `default` is shown as that of --trim."""
    group.add_argument(
        "--trim", type=_trim, metavar="WHAT",
        help=f"{what}: stall (the stall and 1,000 samples of the adapter), a number of samples, or none (default: "
        f"{default})",
    )  # fmt: skip
    if max_samples:
        group.add_argument(
            "--max-samples", type=count, metavar="N",
            help="samples of each read that are kept, after trimming (default: all)",
        )  # fmt: skip


def trim_of(args: argparse.Namespace) -> TrimOptions | None:
    """Return what --trim means, as `read_signals` takes it; the adapter and its stall where it was not given."""
    if args.trim == "none":
        return None
    default = args.trim in (None, "stall")
    found: TrimOptions = trimming.TrimOptions() if default else trimming.TrimOptions(stall=False, extra=args.trim)
    return found


def _trim(text: str) -> str | int:
    if text in ("stall", "none"):
        return text
    try:
        return count(text)
    except argparse.ArgumentTypeError:
        raise argparse.ArgumentTypeError(f"{shortened(text)}: give stall, none or a number of samples") from None
