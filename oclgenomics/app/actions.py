"""The options of the command that was chosen, among those of nested parsers."""

from __future__ import annotations

import argparse
from collections.abc import Iterator

__all__ = ["chosen_actions", "option_of"]


def chosen_actions(parser: argparse.ArgumentParser, args: argparse.Namespace) -> Iterator[argparse.Action]:
    """List the options and arguments of a parser and of the chosen commands within it."""
    for action in parser._actions:
        if not isinstance(action, argparse._SubParsersAction):
            yield action
        elif (choice := getattr(args, action.dest, None)) is not None:
            yield from chosen_actions(action.choices[choice], args)


def option_of(parser: argparse.ArgumentParser, args: argparse.Namespace) -> dict[str, str]:
    """Map the names in `args` to the options that set them, the long one of several: "max_memory" to "--max-memory"."""
    return {
        action.dest: max(action.option_strings, key=len)
        for action in chosen_actions(parser, args)
        if action.option_strings
    }
