"""References, what the oracle makes of them, and builds that go through memory in small parts."""

from __future__ import annotations

import importlib
from collections.abc import Sequence
from dataclasses import fields
from pathlib import Path
from typing import Any
from unittest import mock

import numpy as np
from hypothesis import strategies as st

from oclgenomics.classify.database.database import Database
from oclgenomics.classify.database.features import unmix
from oclgenomics.classify.plan import BuildPlan
from oclgenomics.classify.reference import Locations

__all__ = [
    "BUILDS",
    "TAXIDS",
    "assert_equal",
    "in_parts",
    "locations_of",
    "references",
    "write_references",
    "write_taxonomy",
]

BUILDS = importlib.import_module("oclgenomics.classify.device.building")
TAXIDS = (2, 3, 4, 5, 0)  # three species, their genus, and none
NODES = ((1, 1, "no rank"), (5, 1, "genus"), (2, 5, "species"), (3, 5, "species"), (4, 5, "species"))


def in_parts(block_bytes: int, pairs: int) -> mock._patch[mock.Mock]:
    """Have builds read so many bytes, and sort so many pairs, at a time."""
    return mock.patch.object(BUILDS, "plan_build", mock.Mock(return_value=BuildPlan(block_bytes, pairs)))


@st.composite
def references(draw: st.DrawFn) -> list[list[tuple[int, bytes]]]:
    """Files of records, each a taxid and letters, that share stretches and have gaps."""
    random = np.random.default_rng(draw(st.integers(0, 1 << 32)))
    shared = [bytes(random.choice(list(b"ACGT"), 300).tolist()) for _ in range(3)]

    def letters() -> bytes:
        parts = []
        for _ in range(int(random.integers(0, 5))):
            whole = shared[int(random.integers(3))]
            begin = int(random.integers(0, 300))
            parts += [whole[begin : begin + int(random.integers(0, 300))], b"N" * int(random.integers(0, 3))]
        return b"".join(parts)

    sizes = draw(st.lists(st.integers(1, 4), min_size=1, max_size=3))
    return [[(int(random.choice(TAXIDS)), letters()) for _ in range(size)] for size in sizes]


def write_references(folder: Path, files: Sequence[Sequence[tuple[int, bytes]]], first: int = 0) -> list[Path]:
    """Write files of records, whose names are in the order of the files."""
    paths = []
    number = 0
    for file, records in enumerate(files):
        text = b""
        for taxid, letters in records:
            taxon = f" kraken:taxid|{taxid}" if taxid else ""
            lines = b"\n".join(letters[at : at + 70] for at in range(0, len(letters), 70))
            text += f">XX_{first:03}{number:05}.1{taxon}\n".encode() + lines + b"\n"
            number += 1
        paths.append(folder / f"{first + file:03}.fna")
        paths[-1].write_bytes(text)
    return paths


def write_taxonomy(folder: Path) -> Path:
    """Write the taxonomy of `TAXIDS`."""
    (folder / "nodes.dmp").write_text("".join(f"{a}\t|\t{b}\t|\t{rank}\t|\n" for a, b, rank in NODES))
    names = (f"{a}\t|\ttaxon {a}\t|\t\t|\tscientific name\t|\n" for a, _, _ in NODES)
    (folder / "names.dmp").write_text("".join(names))
    return folder


def locations_of(database: Database) -> Locations:
    """Return the features of a database as the oracle has them."""
    features, first = database.features, database.targets.first_window
    targets = np.searchsorted(first, features.locations, side="right") - 1
    places = list(zip(targets.tolist(), (features.locations - first[targets]).tolist(), strict=True))
    starts = features.starts.tolist()
    return {
        feature: places[starts[number] : starts[number + 1]]
        for number, feature in enumerate(unmix(features.keys).tolist())
    }


def assert_equal(one: Database, other: Database) -> None:
    """Compare all that two databases hold but their provenance."""
    assert one.options == other.options
    for name in ("targets", "taxonomy", "features"):
        _assert_same(getattr(one, name), getattr(other, name))


def _assert_same(one: Any, other: Any) -> None:
    assert type(one) is type(other)
    for name in (field.name for field in fields(one)):
        value, theirs = getattr(one, name), getattr(other, name)
        if isinstance(value, np.ndarray):
            assert value.dtype == theirs.dtype, name
            np.testing.assert_array_equal(value, theirs, err_msg=name)
        else:
            assert value == theirs, name
