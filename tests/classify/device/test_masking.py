"""Low complexity from references to calls: what is masked, what a database's file says of it, what reads are called."""

from __future__ import annotations

import json
from dataclasses import asdict, replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from helpers.classify_databases import edge_database, random_database, write_as

from oclgenomics.classify import METACACHE_BUILD, BuildOptions, Database, Index, QueryOptions, SketchOptions, add, build
from oclgenomics.classify.database.file import KIND, UNMASKED, read_database, write_database
from oclgenomics.classify.database.listings import database_facts
from oclgenomics.classify.device.finder import PartFinder
from oclgenomics.classify.options import inputs_of
from oclgenomics.classify.reference import sketch, sketches
from oclgenomics.errors import InputError, UsageError
from oclgenomics.runtime import Device, Engine

BASES = np.frombuffer(b"ACGT", np.uint8)
OLD, NEW = BuildOptions(SketchOptions(min_triplets=0)), BuildOptions()
OLD_QUERY, NEW_QUERY = QueryOptions(repeats=True, lowest="sequence"), QueryOptions(lowest="sequence")
MEMORY = 900_000  # for a part of the references' features


def bases(size: int, seed: int) -> bytes:
    return np.random.default_rng(seed).choice(BASES, size).tobytes()


def units(longest: int) -> list[bytes]:
    """Units of so many bases at most that are no repeats themselves."""
    drawn = [bases(size, 100 * size + seed) for size in range(1, longest + 1) for seed in range(8)]
    return [unit for unit in drawn if (unit * 2).find(unit, 1) == len(unit)]


def write_fasta(path: Path, records: list[bytes]) -> Path:
    path.write_bytes(b"".join(b">r%d\n%b\n" % (number, letters) for number, letters in enumerate(records)))
    return path


@pytest.fixture(scope="module")
def references(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A genome that holds microsatellites, 60 bases of every unit, and others."""
    satellites = b"".join(bases(200, seed) + (unit * 60)[:60] for seed, unit in enumerate(units(6)))
    others = [bases(20_000, seed) for seed in range(1000, 1003)]
    return write_fasta(tmp_path_factory.mktemp("references") / "r.fna", [satellites, *others])


@pytest.fixture(scope="module")
def reads(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Repeats of 1 to 6 bases, random bases with a tail of one, and homopolymers."""
    repeats = [(unit * size)[:size] for unit in units(6) for size in (75, 150, 170, 250)]
    tails = [bases(75, 10**6 + seed) + b"ACGT"[seed % 4 : seed % 4 + 1] * 75 for seed in range(60)]
    homopolymers = [letter * 150 for letter in (b"A", b"C", b"G", b"T")]
    return write_fasta(tmp_path_factory.mktemp("reads") / "q.fa", repeats + tails + homopolymers)


def classified(database: Database, reads: Path, options: QueryOptions, engine: Engine) -> list[int]:
    """Hits of the reads that are classified."""
    with Index(database, engine=engine) as index:
        assert isinstance(index._finder, PartFinder) == (engine.budget <= MEMORY)
        rows = index.query(inputs_of([reads], [], interleaved=False), options).records()
    return [row["hits"] for row in rows if row["taxon"]]


def test_reads_of_low_complexity_are_not_called(engine: Engine, references: Path, reads: Path) -> None:
    unmasked, masked = build(references, OLD, engine=engine), build(references, NEW, engine=engine)
    every = classified(unmasked, reads, OLD_QUERY, engine)
    assert len(every) > 60
    distinct = classified(unmasked, reads, NEW_QUERY, engine)
    assert max(distinct) <= 6 + 2 < max(every)  # two at the borders of repeats
    assert not classified(masked, reads, NEW_QUERY, engine)


@pytest.mark.parametrize("letter", [b"A", b"C", b"G", b"T"])
def test_of_a_tail_only_its_border_has_features(letter: bytes) -> None:
    """K-mers with up to seven of the bases before it, none; so no window behind these bases has a feature."""
    for seed in range(40):
        head = bases(75, 2 * 10**6 + seed).rstrip(letter)
        window = head[-15:] + letter * 15  # of all k-mers across the border
        kept = [places for places in range(1, 16) if sketch(window[15 - places : 31 - places], NEW.sketch)]
        assert set(range(11, 16)) & set(kept)
        assert min(kept) >= 8
        assert not any(sketches(head + letter * 1504, NEW.sketch)[1:])


def test_parts_of_a_database_count_the_same(engine: Engine, device: Device, references: Path, reads: Path) -> None:
    unmasked = build(references, OLD, engine=engine)
    for options in (OLD_QUERY, NEW_QUERY):
        with Engine(device, max_memory=MEMORY) as small:
            found = classified(unmasked, reads, options, small)
        assert found == classified(unmasked, reads, options, engine)


def test_other_reads_are_called_as_before(engine: Engine, tmp_path: Path) -> None:
    genome = bases(20_000, 9)
    path = write_fasta(tmp_path / "g.fna", [genome, bases(20_000, 10)])
    reads = write_fasta(tmp_path / "q.fa", [genome[at : at + 150] for at in range(0, 19_000, 97)])
    hits = [classified(build(path, one, engine=engine), reads, NEW_QUERY, engine) for one in (OLD, NEW)]
    assert len(hits[0]) == len(hits[1]) == 196
    assert abs(np.mean(hits[0]) - np.mean(hits[1])) < 0.5


def test_mates_that_overlap_count_once(engine: Engine, tmp_path: Path) -> None:
    genome = bases(5000, 11)
    database = build(write_fasta(tmp_path / "g.fna", [genome]), engine=engine)
    mates = [write_fasta(tmp_path / name, [genome[1000:1150]]) for name in ("a", "b")]
    single = inputs_of([mates[0]], [], interleaved=False)
    paired = inputs_of([], [(mates[0], mates[1])], interleaved=False)
    with Index(database, engine=engine) as index:
        hits = [
            index.query(inputs, options).records()[0]["hits"]
            for inputs in (single, paired)
            for options in (NEW_QUERY, OLD_QUERY)
        ]
    assert hits[0] == hits[1] == hits[2] == hits[3] / 2 > 10


def test_lower_case_is_masked_in_references_only(engine: Engine, tmp_path: Path) -> None:
    genome = bases(3000, 12)
    path = write_fasta(tmp_path / "g.fna", [genome[:1000] + genome[1000:2000].lower() + genome[2000:]])
    reads = write_fasta(tmp_path / "q.fa", [genome[at : at + 150].lower() for at in (300, 1300, 2300)])
    database = build(path, BuildOptions(SketchOptions(soft_masked=True)), engine=engine)
    with Index(database, engine=engine) as index:
        rows = index.query(inputs_of([reads], [], interleaved=False), NEW_QUERY).records()
    assert [bool(row["taxon"]) for row in rows] == [True, False, True]


@pytest.mark.parametrize("sketch", [SketchOptions(min_triplets=0), SketchOptions(min_triplets=12, soft_masked=True)])
def test_what_is_added_is_masked_as_the_database_is(engine: Engine, tmp_path: Path, sketch: SketchOptions) -> None:
    halves = [write_fasta(tmp_path / name, [bases(900, 1) + b"AC" * 200 + bases(900, 2).lower()]) for name in "ab"]
    both = add(build(halves[0], BuildOptions(sketch), engine=engine), halves[1], engine=engine)
    whole = build(halves, BuildOptions(sketch), engine=engine)
    assert both.options.sketch == sketch
    for name in ("keys", "counts", "locations"):
        np.testing.assert_array_equal(getattr(both.features, name), getattr(whole.features, name))
    assert database_facts(both)["min_triplets"] == sketch.min_triplets
    assert database_facts(both)["soft_masked"] == sketch.soft_masked


def test_references_that_are_masked_altogether(engine: Engine, tmp_path: Path) -> None:
    path = write_fasta(tmp_path / "g.fna", [b"ACGGT" * 30])
    with pytest.raises(InputError, match=r"g\.fna.*none of 1 record has 16 bases .* not masked \(min_triplets"):
        build(path, engine=engine)
    assert len(build(path, OLD, engine=engine).features) == 5


@pytest.mark.parametrize("value", [-2, 15, 1000])
def test_triplets_that_no_k_mer_has(value: int) -> None:
    with pytest.raises(UsageError, match=r"min_triplets.*is 0 to 14"):
        SketchOptions(min_triplets=value)
    with pytest.raises(UsageError, match=r"min_triplets.*is 0 to 6"):
        SketchOptions(8, min_triplets=7)


def test_defaults_by_the_length_of_k_mers() -> None:
    assert [SketchOptions(k).min_triplets for k in range(4, 17)] == [1, 1, 2, 3, 3, 4, 5, 5, 6, 7, 7, 8, 9]
    assert not SketchOptions(4).masks
    assert not METACACHE_BUILD.sketch.masks
    assert SketchOptions(4, soft_masked=True).masks


# The file of a database


def options_of(database: Database) -> dict[str, Any]:
    return json.loads(json.dumps(asdict(database.options)))  # type: ignore[no-any-return]


def test_a_database_from_before_there_was_masking(tmp_path: Path) -> None:
    database = edge_database()
    options = options_of(database)
    for name in ("min_triplets", "soft_masked"):
        del options["sketch"][name]
    write_as(tmp_path / "old", database, UNMASKED, options)
    found = read_database(tmp_path / "old")
    assert found.options == database.options
    assert not found.options.sketch.masks
    write_database(tmp_path / "new", found)
    assert (tmp_path / "new").read_bytes()[8] == KIND.version == 4
    assert read_database(tmp_path / "new").options == database.options


@pytest.mark.parametrize(
    ("version", "change", "trouble"),
    [
        (1, {}, "soft_masked|min_triplets"),
        (2, {"min_triplets": None}, "min_triplets"),
        (2, {"soft_masked": None}, "soft_masked"),
        (2, {"min_triplets": -1}, "min_triplets"),
        (2, {"min_triplets": 15}, "min_triplets"),
        (2, {"min_triplets": True}, "min_triplets"),
        (2, {"soft_masked": 1}, "soft_masked"),
        (2, {"winstride": 0}, "winstride"),
        (5, {}, "version 5 of the format, not 4"),
        (3, {"soft_masked": None}, "soft_masked"),
        (4, {"soft_masked": None}, "soft_masked"),
        (0, {}, "version 0 of the format, not 4"),
    ],
)
def test_files_that_do_not_tell_the_rule(tmp_path: Path, version: int, change: dict[str, Any], trouble: str) -> None:
    database = random_database(3)
    options = options_of(database)
    options["sketch"] = {name: value for name, value in (options["sketch"] | change).items() if value is not None}
    write_as(tmp_path / "x", database, version, options)
    with pytest.raises(InputError, match=trouble):
        read_database(tmp_path / "x")


def test_databases_of_two_rules_are_not_merged() -> None:
    from oclgenomics.classify import merge_databases

    first = edge_database()
    second = replace(first, options=BuildOptions(replace(first.options.sketch, min_triplets=9)))
    with pytest.raises(UsageError, match="min_triplets is 0 and 9"):
        merge_databases([first, second])
