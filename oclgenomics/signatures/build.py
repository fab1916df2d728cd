"""Panels that are built once and opened often: signatures and their seed table in a file."""

from __future__ import annotations

import os

from oclgenomics.signatures.options import ScanOptions, Strand
from oclgenomics.signatures.panel import Panel
from oclgenomics.signatures.panel_file import BuiltPanel, write_panel
from oclgenomics.signatures.seed_plan import choose_head
from oclgenomics.signatures.seed_table import SeedTable, make_table
from oclgenomics.signatures.source import read_panel

__all__ = ["build_panel"]

USUAL_N_RATE = 0.05  # of samples, which nobody knows yet
MANY_LETTERS = 10**10  # to look through: what it takes to make the table, once, does not count


def build_panel(
    signatures: Panel | str | os.PathLike[str],
    path: str | os.PathLike[str],
    *,
    strand: Strand = "+",
    max_mismatches: int = 0,
) -> tuple[Panel, SeedTable]:
    """Write signatures, and the seed table that finds them, to a file that opens in milliseconds.

    Parameters
    ----------
    signatures : Panel or path
        As `read_panel` takes them. A panel that was built keeps the tables that it has.
    path : path
        The file to write, which may be the one that was read.
    strand : {'+', '-', 'both'}
    max_mismatches : int
        What the table is for. Scans with other ones make their own.

    Returns
    -------
    panel : Panel
    table : SeedTable

    Raises
    ------
    ParameterError
        A value is outside its range.
    InputError
        See `read_panel`.
    OutputError
        The file cannot be written; nothing half written is left.
    """
    ScanOptions(strand=strand, max_mismatches=max_mismatches)
    panel = signatures if isinstance(signatures, Panel) else read_panel(signatures)
    patterns = panel.patterns(strand)
    head = choose_head(patterns, max_mismatches, USUAL_N_RATE, MANY_LETTERS)
    table = make_table(patterns, max_mismatches, head)
    write_panel(path, panel, [*_other_tables(panel, strand, max_mismatches), (strand, table)])
    return panel, table


def _other_tables(panel: Panel, strand: Strand, max_mismatches: int) -> list[tuple[Strand, SeedTable]]:
    """The tables that a panel has, but for those of a strand and so many mismatches."""
    if not isinstance(panel, BuiltPanel):
        return []
    keys = [key for key in panel.tables.numbers if key[:2] != (strand, max_mismatches)]
    return [(key.strand, panel.tables.read(key)) for key in keys]
