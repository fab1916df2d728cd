"""`oclgenomics classify verify`: whether databases are sound."""

from __future__ import annotations

import argparse
import sys
from typing import TYPE_CHECKING, Any

from oclgenomics import classify
from oclgenomics.app.commands import add_command, add_message_options, started_progress
from oclgenomics.app.files import reads
from oclgenomics.app.streams import printable
from oclgenomics.errors import InputError

if TYPE_CHECKING:
    from oclgenomics.classify.database.file import Verified


def add_parser(actions: Any) -> None:
    """Add `verify` to the actions of `classify`."""
    parser = add_command(
        actions, run, "verify", "check databases for damage",
        "Read databases, and check all checksums, that what they hold goes together, and, where a file DB.sha256 lies "
        "next to a database, that it is the one this was made of. Exit code 3 if one is not sound.",
    )  # fmt: skip
    reads(parser.add_argument("databases", nargs="+", metavar="DB", help="database of `classify build`"))
    add_message_options(parser.add_argument_group("output"))


def run(args: argparse.Namespace) -> int:
    """Verify databases, all of them even if one is damaged.

    Raises
    ------
    InputError
        The last one that is not sound; what is wrong with others is printed before.
    """
    damaged: InputError | None = None
    progress = started_progress(args, "verifying", "databases", 1)
    for number, path in enumerate(args.databases):
        progress.update(number, len(args.databases))
        try:
            found = classify.verify_database(path)
        except InputError as error:
            progress.clear()
            _tell(damaged)
            damaged = error
            continue
        progress.clear()
        print(f"{path}: {_checked(found)}")
    if damaged is not None:
        raise damaged
    return 0


def _tell(error: InputError | None) -> None:
    if error is not None:
        print(f"oclgenomics: error: {printable(str(error))}", file=sys.stderr)


def _checked(found: Verified) -> str:
    targets, taxonomy, numbers = found.database.targets, found.database.taxonomy, found.numbers
    sizes = f"{len(targets):,} targets, {len(taxonomy):,} taxa, {numbers.alive + numbers.dead:,} features, "
    manifest = "no .sha256 next to it" if found.sha256 is None else f"SHA-256 as its .sha256 says, {found.sha256}"
    return f"sound: {sizes}{numbers.located:,} locations; checksums, order and bounds hold; {manifest}"
