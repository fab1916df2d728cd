"""The option --html of commands, which writes a page for browsers; `oclgenomics.app.pages` says what is on one.

Helps import this module, so it imports nothing that takes time.
"""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from pathlib import Path

from oclgenomics.app.commands import text_output
from oclgenomics.app.files import writes
from oclgenomics.lazy_names import optional

SUFFIXES = (".html", ".htm")
NEED = "--html needs Plotly: pip install 'oclgenomics[html]'"


def add_html_option(group: argparse._ActionsContainer, what: str) -> None:
    """Add --html; `what` is shown, for the help."""
    writes(group.add_argument(
        "--html", type=_page_name, metavar="FILE.html",
        help=f"write {what} as a page for browsers, one file with figures to zoom and tables to sort; needs the extra "
        "`html`",
    ))  # fmt: skip


def _page_name(text: str) -> str:
    """The name of a page; that Plotly is missing is reported before any work."""
    if text and not text.lower().endswith(SUFFIXES):
        raise argparse.ArgumentTypeError(f"{text} has to end in .html, by which browsers know a page")
    if text:
        optional("plotly", NEED)
    return text


def write_page(args: argparse.Namespace, text: str) -> None:
    """Write the text of a page to the file that --html names.

    Raises
    ------
    OutputError
        It cannot be written.
    """
    with text_output(args.html, "wb") as stream:
        stream.write(text.encode("utf-8", "backslashreplace"))


def input_title(names: Sequence[str]) -> str:
    """Return what a figure calls its inputs: the first one, and how many more there are."""
    first = "standard input" if names[0] == "-" else Path(names[0].removeprefix("@")).name
    return f"{first} and {len(names) - 1:,} more" if len(names) > 1 else first


def elsewhere(args: argparse.Namespace) -> str:
    """Return where all rows of a table are: the file of -o, as `Table.more` has it."""
    return "on standard output" if args.output == "-" else f"in {Path(args.output).name}"
