"""What commands called `info` write: one fact on each line, or JSON."""

from __future__ import annotations

import argparse
from collections.abc import Mapping
from typing import Any

from oclgenomics.app.output import text_output
from oclgenomics.io.plain_json import json_text

__all__ = ["write_facts"]


def write_facts(args: argparse.Namespace, facts: Mapping[str, Any], shown: Mapping[str, Any]) -> None:
    """Write facts to --output.

    Parameters
    ----------
    args : Namespace
        With `output` and `json`.
    facts : mapping
        As JSON has them.
    shown : mapping
        The same as text, or whatever `str` makes it of.
    """
    lines = "".join([f"{name}\t{value}\n" for name, value in shown.items()])
    with text_output(args.output) as stream:
        stream.write(json_text(facts, indent=1) + "\n" if args.json else lines)
