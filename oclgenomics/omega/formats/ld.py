"""What a map of linkage disequilibrium says in numbers: the means of its parts, and the values of all pairs."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import IO, Any

import numpy as np
from numpy.typing import NDArray

from oclgenomics.app.reports import MISSING, table_text
from oclgenomics.errors import ParameterError
from oclgenomics.io.json_text import json_text
from oclgenomics.io.packed_file import name_unpacked, refuse_packed
from oclgenomics.omega.device.ld import LdBlock
from oclgenomics.omega.ld.map import PART_COLUMNS, part_records
from oclgenomics.omega.ld.region import LdPart, LdRegion

VALUE_COLUMNS = ("chromosome", "position_a", "position_b", "r2")
SUFFIXES = ("tsv", "npz")


def values_format(path: str) -> str:
    """Return the format of a file of values from its suffix: 'tsv' or 'npz'.

    Raises
    ------
    UsageError
        For any other suffix.
    """
    suffix = name_unpacked(path).lower().rpartition(".")[2]
    if suffix == "npz":
        refuse_packed(path, suffix)
    if suffix not in SUFFIXES:
        raise ParameterError("values", "the name has to end in .tsv or .npz", path)
    return suffix


def parts_tsv(region: LdRegion, parts: Sequence[LdPart], provenance: Mapping[str, Any]) -> str:
    """Return the means of the parts as a table, below '#' lines with provenance and the grid position."""
    rows = []
    for record in part_records(region, parts):
        mean = MISSING if record["mean_r2"] is None else f"{record['mean_r2']:.7g}"
        rows.append([*(str(record[name]) for name in PART_COLUMNS[:-1]), mean])
    point = _point_record(region)
    return table_text({**provenance, **({"window": point} if point else {})}, PART_COLUMNS, rows)


def parts_json(region: LdRegion, parts: Sequence[LdPart], provenance: Mapping[str, Any]) -> str:
    """Return the same as a JSON object: 'provenance', 'window' (null for a plain region) and 'parts'."""
    record = {"provenance": dict(provenance), "window": _point_record(region), "parts": part_records(region, parts)}
    return json_text(record, indent=1) + "\n"


def _point_record(region: LdRegion) -> dict[str, Any] | None:
    point = region.point
    if point is None:
        return None
    left, right = point.window
    return {"position": point.position, "omega": point.omega, "left": left, "right": right}


class PairTable:
    """A row for each pair of sites, written as the blocks come; NA where r2 is not defined.

    Parameters
    ----------
    stream : text stream
    region : LdRegion
    provenance : mapping
    """

    def __init__(self, stream: IO[str], region: LdRegion, provenance: Mapping[str, Any]) -> None:
        self._stream, self._name = stream, " ".join(region.alignment.name.split())
        self._positions = region.positions.tolist()
        stream.write(table_text(provenance, VALUE_COLUMNS, []))

    def add(self, block: LdBlock) -> None:
        """Write some rows."""
        for row, values in enumerate(block.values):
            site = block.row0 + row
            start = f"{self._name}\t{self._positions[site]}\t"
            shown = [MISSING if value != value else f"{value:.6g}" for value in values[row + 1 :].tolist()]
            later = zip(self._positions[site + 1 :], shown, strict=True)
            self._stream.write("".join([f"{start}{position}\t{value}\n" for position, value in later]))

    def finish(self) -> None:
        """Nothing is left to write."""


class MatrixFile:
    """A NumPy archive: `r2`, float32 (sites, sites), NaN where it is not defined, `positions`, int64 (sites,), and
    `window`, the indices of its first site, the last site left of its split and its last site (empty for a plain
    region).

    Parameters
    ----------
    stream : binary stream
    region : LdRegion
    """

    def __init__(self, stream: IO[bytes], region: LdRegion) -> None:
        self._stream, self._region = stream, region
        sites = region.alignment.sites
        self._matrix: NDArray[np.float32] = np.zeros((sites, sites), np.float32)

    def add(self, block: LdBlock) -> None:
        """Keep some rows."""
        rows = slice(block.row0, block.row0 + len(block.values))
        self._matrix[rows, block.row0 :] += block.values
        self._matrix[block.row0 :, rows] += block.values.T

    def finish(self) -> None:
        """Write the archive."""
        np.fill_diagonal(self._matrix, 1)
        window = [part.rows[1] for part in self._region.parts[:2]]
        first = [part.rows[0] for part in self._region.parts[:1]]
        np.savez(
            self._stream, r2=self._matrix, positions=self._region.positions, window=np.array(first + window, np.int64)
        )
