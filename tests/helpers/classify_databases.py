"""Databases of `oclgenomics classify` made without it: of the oracle, of what MetaCache built, or at random."""

from __future__ import annotations

import gzip
from collections.abc import Sequence
from dataclasses import replace
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from oclgenomics.classify.database import file
from oclgenomics.classify.database.database import Database
from oclgenomics.classify.database.features import Features, mix
from oclgenomics.classify.database.file import KIND
from oclgenomics.classify.options import METACACHE_BUILD, NO_RANK, RANK_SLOTS, RANKS, BuildOptions
from oclgenomics.classify.plan import count_windows
from oclgenomics.classify.reference import Locations, build_features
from oclgenomics.classify.taxonomy.lineages import Targets
from oclgenomics.classify.taxonomy.tree import NO_TAXON, Taxonomy
from oclgenomics.io.array_writing import write_arrays

__all__ = [
    "DATA", "EDGE", "VIRAL", "edge_database", "fasta_records", "features_of", "golden_features", "packed_database",
    "random_database", "read_dump", "viral_database", "write_as",
]  # fmt: skip

DATA = Path(__file__).resolve().parents[1] / "data" / "classify"
ROOT = RANKS.index("root")
EDGE, VIRAL = DATA / "edge", DATA / "viral"


def fasta_records(path: Path) -> list[tuple[str, bytes]]:
    """List the headers and the letters of a FASTA file."""
    records = path.read_text().split(">")[1:]
    return [(head, "".join(lines).encode()) for head, *lines in (record.split("\n") for record in records)]


def read_dump(folder: Path) -> Taxonomy:
    """Read a taxonomy in the format of NCBI."""
    nodes = sorted((int(a), int(b), c) for a, b, c, *_ in _rows(folder / "nodes.dmp"))
    names = {int(taxid): name for taxid, name, _, kind, *_ in _rows(folder / "names.dmp") if kind == "scientific name"}
    merged = sorted((int(old), int(new)) for old, new, *_ in _rows(folder / "merged.dmp"))
    numbers = {taxid: number for number, (taxid, _, _) in enumerate(nodes)}
    return Taxonomy(
        np.array([*numbers], np.int64),
        np.array([numbers[parent] for _, parent, _ in nodes], np.int32),
        np.array([ROOT if a == b else RANK_SLOTS.get(rank, NO_RANK) for a, b, rank in nodes], np.int8),
        tuple(names.get(taxid, "") for taxid in numbers),
        np.array([old for old, _ in merged], np.int64),
        np.array([new for _, new in merged], np.int64),
    )


def write_as(path: Path, database: Database, version: int, options: dict[str, Any] | None = None) -> None:
    """Write a database as a version of the format, whatever it says; its options may be told in other words."""
    metadata, kind = file.described(database), replace(KIND, version=version)
    if options is not None:
        metadata["options"] = options
    if kind.holds_sums:
        write_arrays(path, kind, "0.1.0", metadata, file.packed_arrays(database))
        return
    del metadata["features"]
    features = database.features  # which were not packed before
    counts = features.counts.astype(file._count_type(database.options), copy=False)
    plain = {"keys": features.keys, "counts": counts, "locations": features.locations}
    write_arrays(path, kind, "0.1.0", metadata, file._known_arrays(database) | plain)


def _rows(path: Path) -> list[list[str]]:
    return [[cell.strip() for cell in line.split("|")] for line in path.read_text().splitlines()]


def golden_features(text: str) -> Locations:
    """Read the lines of `info DB locations`."""
    found: Locations = {}
    for line in text.splitlines():
        feature, _, places = line.partition(" -> ")
        pairs = [pair.split(",") for pair in places.strip("() \t").split(")(") if pair]
        found[int(feature)] = [(int(target), int(window)) for target, window in pairs]
    return found


def features_of(locations: Locations, first_window: NDArray[np.int64], max_locations: int = 254) -> Features:
    """Return features as a database has them."""
    names = np.array([*locations], np.uint32)
    order = np.argsort(mix(names))
    lists = [locations[int(name)] for name in names[order]]
    places = [first_window[target] + window for each in lists for target, window in each]
    count_type = np.uint8 if max_locations < 256 else np.uint16
    return Features(mix(names)[order], np.array([*map(len, lists)], count_type), np.array(places, np.uint32))


@cache
def edge_database(options: BuildOptions | None = None) -> Database:
    """The database of the edge cases, by the oracle."""
    options = options or METACACHE_BUILD
    records = fasta_records(EDGE / "edge_ref.fna")
    places = [(0, number) for number in range(len(records))]
    locations = build_features([letters for _, letters in records], options)
    return _database(records, ["edge_ref.fna"], places, read_dump(EDGE), options, locations)


@cache
def viral_database() -> Database:
    """The database of the viruses, with the features that MetaCache found."""
    paths = sorted((VIRAL / "ref").glob("*.fna"))
    records = [record for path in paths for record in fasta_records(path)]
    assert len(records) == len(paths)
    locations = golden_features(gzip.decompress((VIRAL / "features.txt.gz").read_bytes()).decode())
    places = [(number, 0) for number in range(len(paths))]
    sources = [f"ref/{path.name}" for path in paths]
    return _database(records, sources, places, read_dump(VIRAL / "tax"), METACACHE_BUILD, locations)


def _database(
    records: Sequence[tuple[str, bytes]],
    sources: Sequence[str],
    places: Sequence[tuple[int, int]],
    taxonomy: Taxonomy,
    options: BuildOptions,
    locations: Locations,
) -> Database:
    """A database of targets whose headers begin with "kraken:taxid|TAXID|NAME"."""
    heads = [head.split()[0].split("|") for head, _ in records]
    letters = np.array([len(letters) for _, letters in records], np.int64)
    targets = Targets(
        tuple(name for _, _, name in heads),
        tuple(sources),
        np.array([source for source, _ in places], np.int32),
        np.array([record for _, record in places], np.int64),
        taxonomy.find(np.array([int(taxid) for _, taxid, _ in heads], np.int64)),
        letters,
        count_windows(letters, options.sketch),
    )
    features = features_of(locations, targets.first_window, options.max_locations)
    return Database(options, targets, taxonomy, features, {"program": "oclgenomics"})


@cache
def packed_database() -> Database:
    """A database whose features are in several buckets, some of them without locations, and some with many."""
    rng = np.random.default_rng(5)
    database = random_database(5, 6, 0, BuildOptions())
    windows = int(database.targets.windows.sum())
    keys = np.unique(rng.integers(0, 1 << 32, 1500, np.uint64)).astype(np.uint32)
    counts = np.minimum(rng.geometric(0.5, len(keys)) - (rng.random(len(keys)) < 0.1), windows).astype(np.uint8)
    counts[:3] = 2, 0, windows
    lists = [np.sort(rng.choice(windows, count, replace=False)) for count in counts.tolist()]
    return replace(database, features=Features(keys, counts, np.concatenate(lists).astype(np.uint32)))


def random_database(seed: int, targets: int = 5, features: int = 50, options: BuildOptions | None = None) -> Database:
    """A database of random numbers that go together; names and taxa of all kinds."""
    options, rng = options or METACACHE_BUILD, np.random.default_rng(seed)
    taxa = int(rng.integers(0, 9)) if targets < 100 else 1000
    letters = rng.integers(0, 2000, targets)
    windows = count_windows(letters, options.sketch)
    total = int(windows.sum())
    counts = np.minimum(rng.geometric(0.5, features) - 1, min(options.max_locations, total))
    keys = np.unique(rng.integers(0, 1 << 32, features, np.uint32))
    counts = counts[: len(keys)]
    lists = [np.sort(rng.choice(total, count, replace=False)) for count in counts if count]
    return Database(
        options,
        Targets(
            tuple(f"target \u00e9 {number}" for number in range(targets)),
            ("a.fa", "b \udcff.fa"),
            rng.integers(0, 2, targets).astype(np.int32),
            rng.integers(0, 99, targets),
            rng.integers(NO_TAXON, taxa, targets).astype(np.int32),
            letters,
            windows,
        ),
        _random_tree(rng, taxa),
        Features(
            keys,
            counts.astype(np.uint8 if options.max_locations < 256 else np.uint16),
            np.concatenate([np.empty(0, np.uint32), *lists]).astype(np.uint32),
        ),
        {"program": "oclgenomics", "parameters": {"taxonomy": None, "maxwin": 1.5, "names": ["\u00e9", "b"]}},
    )


def _random_tree(rng: np.random.Generator, taxa: int) -> Taxonomy:
    place = rng.permutation(taxa).astype(np.int32)  # of each taxon, the root first
    parents = np.zeros(taxa, np.int32)
    for number in range(taxa):
        parents[place[number]] = place[int(rng.integers(0, max(number, 1)))]
    return Taxonomy(
        np.cumsum(rng.integers(1, 5, taxa)),
        parents,
        rng.integers(NO_RANK, len(RANKS), taxa).astype(np.int8),
        tuple(f"taxon {number % 3}" for number in range(taxa)),
        np.array([1001, 1002], np.int64),
        np.array([1, 2], np.int64),
    )
