"""What `build` and `add` share: references, where their taxa come from, and the summary at the end."""

from __future__ import annotations

import argparse
from collections.abc import Iterable
from typing import TYPE_CHECKING

from oclgenomics.app.commands import count, say
from oclgenomics.app.files import reads
from oclgenomics.app.inputs import reads_sequences
from oclgenomics.classify import database, taxonomy
from oclgenomics.errors import UsageError

if TYPE_CHECKING:
    from oclgenomics.classify.database.database import Database


SHOWN_TARGETS = 5


def add_references(parser: argparse.ArgumentParser) -> None:
    """Add the references."""
    references = parser.add_argument(
        "references", nargs="+", metavar="REF",
        help="FASTA files, uncompressed or compressed, or folders of such, or @LIST for those that a text "
        "file names; taken in the order of their names",
    )  # fmt: skip
    reads_sequences(references, _files_of_reference)


def add_targets(parser: argparse.ArgumentParser) -> None:
    """Add the references of a command whose files are reads."""
    targets = parser.add_argument(
        "--targets", dest="references", nargs="+", required=True, metavar="REF",
        help="references: FASTA files, uncompressed or compressed, or folders of such, or @LIST for those that a text "
        "file names; taken in the order of their names",
    )  # fmt: skip
    reads_sequences(targets, _files_of_reference)


def add_taxon_options(parser: argparse.ArgumentParser) -> None:
    """Add where the taxa of targets come from."""
    group = parser.add_argument_group("taxa")
    folder = group.add_argument(
        "--taxonomy", metavar="DIR",
        help="folder with nodes.dmp and names.dmp, and maybe merged.dmp, assembly summaries and *.accession2taxid "
        "(default: none, so only sequences are known)",
    )  # fmt: skip
    reads_taxonomy(folder)
    maps = group.add_argument(
        "--taxpostmap", action="append", default=[], metavar="FILE",
        help="accession2taxid file, uncompressed or compressed (gzip, bzip2, xz, zstd), for targets that have no taxon "
        "yet; may be given more than once",
    )  # fmt: skip
    reads(maps)
    group.add_argument(
        "--reset-taxa", action="store_true", help="prefer accession2taxid files to headers and to assembly summaries"
    )


def reads_taxonomy(action: argparse.Action) -> argparse.Action:
    """Declare that an option names the folder of a taxonomy to read."""

    return reads(action, lambda _, folder: [str(file) for file in taxonomy.taxonomy_files(folder)])


def add_reading_options(parser: argparse.ArgumentParser) -> None:
    """Add how references are read."""
    group = parser.add_argument_group("reading")
    group.add_argument(
        "--threads", type=count, metavar="N", help="host threads that decompress bgzip (default: at most 4)"
    )


def add_manifest_option(group: argparse._ArgumentGroup) -> None:
    """Add what is written beside a database."""
    group.add_argument(
        "--manifest", action="store_true",
        help="also write the SHA-256 of the database to DB.sha256, for sha256sum --check and `classify verify`",
    )  # fmt: skip


def with_manifest(args: argparse.Namespace, path: str) -> Iterable[str]:
    """Return the files of a database that is written."""
    return [path, database.manifest_path(path)] if args.manifest else [path]


def check_threads(args: argparse.Namespace) -> None:
    """Refuse a number of threads that is none.

    Raises
    ------
    UsageError
        It is 0.
    """
    if args.threads is not None and args.threads < 1:
        raise UsageError(f"--threads {args.threads}: give 1 or more")


def say_summary(args: argparse.Namespace, made: Database, output: str, letters: int, seconds: float) -> None:
    """Tell what a database holds, how fast it came about, what was removed, and which targets have no taxon.

    Parameters
    ----------
    args : Namespace
    made : Database
    output : str
        Its file.
    letters : int
        Of the references that were read.
    seconds : float
    """
    targets, features = made.targets, made.features
    say(
        args,
        f"{len(targets):,} targets, {int(targets.windows.sum()):,} windows, {len(features):,} features, "
        f"{len(features.locations):,} locations in {seconds:.2f} s "
        f"({letters / max(seconds, 1e-9) / 1e6:.1f} million letters a second); wrote {output}",
    )
    removed = int((features.counts == 0).sum())
    if removed:
        say(args, f"{removed:,} features were removed, since they are in too many places")
    if len(features) and removed == len(features):
        say(args, "warning: all features were removed, so no read will be classified")
    if len(made.taxonomy):
        unranked = (targets.taxon == taxonomy.NO_TAXON).nonzero()[0].tolist()
        if unranked:
            first = ", ".join(targets.names[target] for target in unranked[:SHOWN_TARGETS])
            more = ", ..." if len(unranked) > SHOWN_TARGETS else ""
            say(args, f"warning: {len(unranked):,} of {len(targets):,} targets have no taxon: {first}{more}")


def _files_of_reference(args: argparse.Namespace, given: str) -> Iterable[str]:
    """The files that a reference stands for, and what assembly summaries beside them say."""
    files = database.files_of(given)
    return [*files, *map(str, taxonomy.summaries_beside(files))]
