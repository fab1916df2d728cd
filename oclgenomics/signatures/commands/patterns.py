"""Signatures of a command line: the last file, or patterns written out."""

from __future__ import annotations

import argparse
from collections.abc import Iterable
from typing import TYPE_CHECKING

from oclgenomics.app.commands import shortened
from oclgenomics.app.files import reads
from oclgenomics.errors import UsageError
from oclgenomics.lazy_names import late
from oclgenomics.signatures.commands.build import SIGNATURES

if TYPE_CHECKING:
    from oclgenomics.signatures.panels.panel import Panel

letters = late("oclgenomics.signatures.panels.letters")
panels = late("oclgenomics.signatures.panels.panel")
sequence_files = late("oclgenomics.sequence.files")

MISSING = "SIGNATURES is missing: name a file of signatures last, or give --pattern BASES"


def add_signatures(parser: argparse.ArgumentParser) -> argparse.Action:
    """Add the file of signatures, behind files of reads, and -p/--pattern in its stead; return the former."""
    last = parser.add_argument(
        "signatures", metavar="SIGNATURES", help=f"the last file: {SIGNATURES}; none with --pattern"
    )
    last.required = False  # as --pattern takes its place, which only `take_signatures` knows
    reads(last, _files)
    parser.add_argument(
        "-p", "--pattern", dest="patterns", action="append", default=[], metavar="[NAME=]BASES",
        help="a signature in IUPAC codes, instead of a file; may be given more than once; named BASES unless "
        "NAME is given",
    )  # fmt: skip
    return last


def _files(args: argparse.Namespace, given: str) -> Iterable[str]:
    """The files that the last one means: reads may be a list of files."""
    if not args.patterns or not given.startswith("@"):
        return [given]
    return [*sequence_files.list_names([given]), *sequence_files.file_names([given])]


def take_signatures(args: argparse.Namespace, samples: str | None, least: int = 1) -> None:
    """Settle which files are reads: all of them with --pattern, else all but the last one.

    Parameters
    ----------
    args : Namespace
        Its list `samples` gets the files of reads, and `signatures` the other file, or None with --pattern.
    samples : str, optional
        None where a sheet has the files of reads.
    least : int
        How many files of reads there have to be.

    Raises
    ------
    UsageError
        There are no signatures.
    """
    if samples is None:
        if args.patterns and args.signatures is not None:
            raise UsageError(f"{args.signatures}: leave the file out, as --pattern gives the signatures")
        if not args.patterns and args.signatures is None:
            raise UsageError(MISSING)
        return
    files = [*getattr(args, samples), *([] if args.signatures is None else [args.signatures])]
    args.signatures = None
    if not args.patterns:
        if len(files) <= least:
            raise UsageError(MISSING)
        args.signatures = files.pop()
    setattr(args, samples, files)


def patterns_of(args: argparse.Namespace) -> tuple[tuple[str, str], ...]:
    """Return the names and the bases of --pattern.

    Raises
    ------
    UsageError
        A pattern without bases or with others than IUPAC codes, a name that is no word, or one that is there twice.
    """
    found: dict[str, str] = {}
    for given in args.patterns:
        name, equals, bases = given.rpartition("=")
        where = f"--pattern {shortened(given)}"
        wrong = [at for at, known in enumerate(letters.sets_of(bases).tolist()) if not known]
        if not bases:
            raise UsageError(f"{where}: has no bases; write NAME=BASES, or BASES alone")
        if wrong:
            raise UsageError(f"{where}: base {wrong[0] + 1} is no nucleotide; write IUPAC codes")
        if equals and (not name or name.split() != [name]):
            raise UsageError(f"{where}: the name has to be one word")
        if (name or bases) in found:
            raise UsageError(f"{where}: another pattern has the name {name or bases}; give it another one")
        found[name or bases] = bases
    return tuple(found.items())


def panel_of(args: argparse.Namespace) -> Panel | str:
    """Return the panel of --pattern, or the file of signatures."""
    patterns = patterns_of(args)
    return panels.Panel.from_signatures(patterns) if patterns else str(args.signatures)
