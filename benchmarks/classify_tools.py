"""Programs that classify reads, ours among them: the commands that build a database and query it."""

from __future__ import annotations

import argparse
import shutil
import sys
import tempfile
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Protocol

from measure import machine, table, write_json

from oclgenomics.runtime import select_device

__all__ = ["Kraken2", "MetaCache", "Ours", "Tool", "tools"]


class Tool(Protocol):
    """A program.

    Attributes
    ----------
    name : str
    """

    name: str

    def prepare(self, references: Sequence[Path], taxonomy: Path, database: Path) -> list[list[str]]:
        """Make what the build starts from; return commands that are not timed."""

    def build(self, references: Sequence[Path], taxonomy: Path, database: Path) -> list[str]:
        """Return the command that builds a database in the folder `database`, which is there."""

    def query(self, database: Path, reads: Sequence[Path], output: Path) -> list[str]:
        """Return the command that classifies single reads, or the pairs of two files."""


@dataclass(frozen=True)
class Ours:
    """This package, as a process."""

    device: str
    name: str = "oclgenomics"

    def prepare(self, references: Sequence[Path], taxonomy: Path, database: Path) -> list[list[str]]:
        return []

    def build(self, references: Sequence[Path], taxonomy: Path, database: Path) -> list[str]:
        paths = [*map(str, references), "--taxonomy", str(taxonomy)]
        return [*self.command("build"), str(database / "ours.db"), *paths, "-d", self.device, "-q"]

    def query(self, database: Path, reads: Sequence[Path], output: Path) -> list[str]:
        given = ["--paired", *map(str, reads)] if len(reads) == 2 else [str(reads[0])]
        options = ["--format", "native", "-o", str(output), "-d", self.device, "-q"]
        return [*self.command("query"), str(database / "ours.db"), *given, *options]

    @staticmethod
    def command(action: str) -> list[str]:
        """What a command starts with."""
        return [sys.executable, "-m", "oclgenomics", "classify", action]


@dataclass(frozen=True)
class MetaCache:
    """MetaCache with its defaults, or with other options of a query."""

    path: str
    threads: int
    options: tuple[str, ...] = ()
    name: str = "MetaCache"

    def prepare(self, references: Sequence[Path], taxonomy: Path, database: Path) -> list[list[str]]:
        return []

    def build(self, references: Sequence[Path], taxonomy: Path, database: Path) -> list[str]:
        threads = ["-threads", str(self.threads)]
        return [self.path, "build", str(database / "mc"), *map(str, references), "-taxonomy", str(taxonomy), *threads]

    def query(self, database: Path, reads: Sequence[Path], output: Path) -> list[str]:
        pairs = ["-pairfiles"] if len(reads) == 2 else []
        options = [*pairs, *self.options, "-out", str(output), "-threads", str(self.threads)]
        return [self.path, "query", str(database / "mc"), *map(str, reads), *options]


@dataclass(frozen=True)
class Kraken2:
    """Kraken 2 with its defaults, or with other options of a query."""

    path: str
    threads: int
    options: tuple[str, ...] = ()
    fast: bool = False
    name: str = "Kraken2"

    @property
    def builder(self) -> str:
        """The program that builds, which lies next to the other one."""
        return f"{self.path}-build"

    def prepare(self, references: Sequence[Path], taxonomy: Path, database: Path) -> list[list[str]]:
        """Lay out the taxonomy, and add all references to the library as one file."""
        folder = database / "kraken2"
        shutil.rmtree(folder, ignore_errors=True)
        (folder / "taxonomy").mkdir(parents=True)
        for path in taxonomy.iterdir():
            shutil.copy(path, folder / "taxonomy")
        library = database / "library.fna"
        with library.open("wb") as joined:
            for path in references:
                joined.write(path.read_bytes())
        return [[self.builder, "--add-to-library", str(library), "--no-masking", "--db", str(folder)]]

    def build(self, references: Sequence[Path], taxonomy: Path, database: Path) -> list[str]:
        fast = ["--fast-build"] if self.fast else []
        return [self.builder, "--build", "--db", str(database / "kraken2"), "--threads", str(self.threads), *fast]

    def query(self, database: Path, reads: Sequence[Path], output: Path) -> list[str]:
        pairs = ["--paired"] if len(reads) == 2 else []
        options = [*pairs, *self.options, "--output", str(output), "--threads", str(self.threads)]
        return [self.path, "--db", str(database / "kraken2"), *options, *map(str, reads)]


def tools(device: str, threads: int) -> list[Tool]:
    """List ours, and of the others those that are on PATH."""
    found: list[Tool] = [Ours(device)]
    if path := shutil.which("metacache"):
        found.append(MetaCache(path, threads))
    if path := shutil.which("kraken2"):
        found += [Kraken2(path, threads), Kraken2(path, threads, fast=True, name="Kraken2 --fast-build")]
    return found


def measure_queries(args: argparse.Namespace, rows: Callable[[argparse.Namespace, Path], list[dict[str, Any]]]) -> None:
    """Measure in `folder` of the arguments, or in a temporary one; print the rows without lists, and write all."""
    with tempfile.TemporaryDirectory() as temporary:
        found = rows(args, args.folder or Path(temporary))
    print(table([{name: value for name, value in one.items() if not name.endswith("seconds")} for one in found]))
    write_json(args.json, {"machine": machine(select_device(args.device)), "query": found})
