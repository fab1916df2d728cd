"""Options that name files of sequences, or with @ a list of such files."""

from __future__ import annotations

import argparse
from collections.abc import Callable, Iterable

from oclgenomics.app.files import reads

__all__ = ["reads_sequences"]

FilesOf = Callable[[argparse.Namespace, str], Iterable[str]]


def reads_sequences(action: argparse.Action, files_of: FilesOf | None = None) -> argparse.Action:
    """Declare that an option names files of sequences to read; lists of files are read, too.

    Parameters
    ----------
    action : Action
    files_of : callable, optional
        Gives the files that a name stands for, such as those of a folder.
    """

    def names(args: argparse.Namespace, given: str) -> list[str]:
        if given.startswith("@"):
            from oclgenomics.sequence.files import file_names, list_names

            found, lists = file_names([given]), list_names([given])
        else:
            found, lists = [given], []
        return lists + (found if files_of is None else [file for name in found for file in files_of(args, name)])

    return reads(action, names)
