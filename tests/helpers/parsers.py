"""The parsers of all commands, by the words that choose them."""

from __future__ import annotations

import argparse
from collections.abc import Iterator

from oclgenomics.cli import main

__all__ = ["PARSERS"]


def _commands(parser: argparse.ArgumentParser, name: str) -> Iterator[tuple[str, argparse.ArgumentParser]]:
    """Every parser that runs something."""
    inner = [action for action in parser._actions if isinstance(action, argparse._SubParsersAction)]
    if not inner:
        yield name, parser
    for action in inner:
        for word, choice in action.choices.items():
            yield from _commands(choice, f"{name} {word}")


PARSERS = dict(_commands(main._parser(), "oclgenomics"))
