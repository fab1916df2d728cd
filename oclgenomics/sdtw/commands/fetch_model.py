"""`oclgenomics sdtw fetch-model`: published k-mer models that do not come with the package."""

from __future__ import annotations

import argparse
from typing import Any

from oclgenomics import signals
from oclgenomics.app import commands as app
from oclgenomics.errors import InputError, readable_bytes
from oclgenomics.signals import published


def add_parser(actions: Any) -> None:
    """Add `fetch-model` to the actions of `sdtw`."""
    parser = app.add_command(
        actions, run, "fetch-model",
        help="download k-mer models of R10.4.1 and of direct RNA",
        description="Download k-mer models that Oxford Nanopore publishes, check each against the checksum of the "
        "published file, and keep them in $OCLGENOMICS_MODELS (default: ~/.local/share/oclgenomics/models), where "
        "--model finds them by name. A download that was cut goes on where it ended. It needs the extra `fetch`: pip "
        "install 'oclgenomics[fetch]'.",
    )  # fmt: skip
    group = parser.add_argument_group("models")
    group.add_argument("names", nargs="+", metavar="MODEL", help=", ".join(published.PUBLISHED))
    group.add_argument(
        "--source", default=published.MODELS_SOURCE, metavar="URL",
        help="folder with the files of Oxford Nanopore's repository (default: %(default)s)",
    )  # fmt: skip
    app.add_message_options(parser.add_argument_group("messages"))


def run(args: argparse.Namespace) -> int:
    """Download models.

    Raises
    ------
    UsageError, InputError, OutputError
        See the exit codes of `oclgenomics.errors`.
    """
    for name in args.names:
        published.check_name(name)
    for name in args.names:
        progress = app.started_progress(args, f"downloading {name}")
        path = signals.fetch_model(name, source=args.source, progress=progress.update)
        progress.clear()
        _check_content(name)
        app.say(args, f"{name}: {readable_bytes(path.stat().st_size)} in {path}; {published.LICENCE}")
    return 0


def _check_content(name: str) -> None:
    """Read a model that was downloaded.

    Raises
    ------
    InputError
        It is no table of all k-mers of its length.
    """
    model, wanted = signals.read_model(name), published.PUBLISHED[name].k
    if model.k != wanted:
        raise InputError(f"has {model.k}-mers, and {name} has {wanted}-mers", source=str(published.model_path(name)))
