"""`oclgenomics omega`: selective sweeps along chromosomes or simulated replicates, their thresholds and peaks."""

from __future__ import annotations

from typing import Any

from oclgenomics.app.commands import OneLineParser, add_system

COMMANDS = "scan threshold combine peaks ld"
# Names OmegaPlus' users know; `-input FILE` becomes the positional argument.
OMEGAPLUS_NAMES = {
    "-grid": ["--grid"], "-minwin": ["--minwin"], "-maxwin": ["--maxwin"], "-length": ["--length"],
    "-minsnps": ["--minsnps"], "-maf": ["--maf"], "-no-singletons": ["--no-singletons"], "-binary": ["--binary"],
    "-impute": ["--impute"], "-seed": ["--seed"], "-ld": ["--ld"], "-sampleList": ["--samples"],
    "-sampleList_out": ["--samples-out"], "-all": ["--all"], "-noSeparator": ["--no-separator"],
    "-reports": ["--reports"], "-input": [], "-mbs": ["--input-format", "mbs"],
}  # fmt: skip
NOT_TAKEN = {
    "-threads": "the device's own parallelism is used; --threads N limits host threads and cores of a CPU device",
    "-memLimit": "use --max-memory",
    "-name": "use --format omegaplus -o OmegaPlus_Report.NAME",
}


class OmegaParser(OneLineParser):
    """Takes OmegaPlus' option names too."""

    foreign = NOT_TAKEN

    def parse_known_args(self, args: Any = None, namespace: Any = None) -> Any:
        words = [known for word in args or [] for known in OMEGAPLUS_NAMES.get(word, [word])]
        return super().parse_known_args(words, namespace)


def add_parser(subparsers: Any) -> None:
    """Add `omega` and what it does to the command line."""
    add_system(subparsers, "omega", COMMANDS, OmegaParser)
