"""Names of the files of `omega scan --reports`: one for each chromosome or replicate, and never the same one twice."""

from __future__ import annotations

import argparse
import itertools
import os
import re
from collections.abc import Iterable, Iterator

from oclgenomics.app.files import Family, FileKey, NamedFile, check_output, file_key
from oclgenomics.io.packed_file import name_unpacked

__all__ = ["ReportNames", "report_files"]

SUFFIXES = (".tsv", ".json", ".txt")
NOT_IN_NAMES = re.compile(r"[/\x00-\x1f\x7f-\x9f]")


def report_files(args: argparse.Namespace, output: str) -> list[str | Family]:
    """What -o stands for, as `oclgenomics.app.files.writes` asks for it."""
    if not args.reports or output == "-":
        return [output]
    stem, suffix = _parts(output)
    return [Family(f"{stem}.", suffix)]


class ReportNames:
    """Gives out the names of reports.

    Parameters
    ----------
    output : str
        As -o names it; a chromosome's name is put before its suffix.
    files : iterable of NamedFile
        What else the command reads and writes.
    """

    def __init__(self, output: str, files: Iterable[NamedFile]) -> None:
        self._stem, self._suffix = _parts(output)
        files = list(files)
        self._inputs = [file for file in files if file.kind == "input"]
        self._taken: set[FileKey | None] = set()
        for file in files:
            if file.kind == "output" and isinstance(file.name, str):
                self._taken |= _keys(file.name)
        self._latest: str | None = None

    def name(self, label: str, replicate: int) -> str:
        """Return a name that no other output has; the report before is written by now.

        Parameters
        ----------
        label : str
            Name of the chromosome or replicate.
        replicate : int
            Its running number, which is added where the name is taken.

        Raises
        ------
        FileConflictError
            It would be an input.
        """
        if self._latest is not None:
            self._taken.add(file_key(self._latest))  # what the file system knows it by, whatever its spelling
        for name in self._candidates(NOT_IN_NAMES.sub("_", label), replicate):
            if not _keys(name) & self._taken:
                check_output(NamedFile("--reports", name, "output"), self._inputs)
                self._taken |= _keys(name)
                self._latest = name
                return name
        raise AssertionError  # there is no end of candidates

    def _candidates(self, label: str, replicate: int) -> Iterator[str]:
        yield f"{self._stem}.{label}{self._suffix}"
        yield f"{self._stem}.{label}.{replicate}{self._suffix}"
        for number in itertools.count(2):
            yield f"{self._stem}.{label}.{replicate}.{number}{self._suffix}"


def _keys(name: str) -> set[FileKey | None]:
    """By path, too: an output that is there already is another file when it has been written."""
    return {file_key(name), ("path", os.path.realpath(name))}


def _parts(output: str) -> tuple[str, str]:
    bare = name_unpacked(output)
    stem, suffix = os.path.splitext(bare)
    stem, suffix = (stem, suffix) if suffix in SUFFIXES else (bare, "")
    return stem, suffix + output[len(bare) :]
