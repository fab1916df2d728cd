"""Queries from Python against the oracle, with databases that stay on the device and such that go through it."""

from __future__ import annotations

import gc
import gzip
from dataclasses import fields, replace
from itertools import islice
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from helpers.classified import DATA
from helpers.classify_databases import write_as
from helpers.products import examples
from hypothesis import given, settings, strategies as st

from oclgenomics.classify import (
    METACACHE_BUILD,
    BuildOptions,
    ClassifiedReads,
    Database,
    Index,
    Input,
    QueryOptions,
    QueryResult,
    SketchOptions,
    Wanted,
    build,
    index,
    iter_query,
    plan,
    query,
    read_database,
    reference,
    run,
    write_database,
)
from oclgenomics.classify.api import checked_inputs
from oclgenomics.classify.database.features import unmix
from oclgenomics.classify.database.file import KIND, PLAIN
from oclgenomics.classify.database.listings import database_facts
from oclgenomics.classify.device import finder
from oclgenomics.classify.device.feature_index import FeatureIndex
from oclgenomics.classify.device.finder import PartFinder, SoughtFinder, WholeFinder
from oclgenomics.classify.formats import Tally, bracken_table
from oclgenomics.classify.plan import needed_lead, range_widths
from oclgenomics.classify.result import Hits, SharedFeatures
from oclgenomics.classify.taxonomy.calls import Caller
from oclgenomics.classify.taxonomy.coverage import known_features
from oclgenomics.classify.taxonomy.lineages import Lineages
from oclgenomics.errors import InputError, ParameterError, UsageError
from oclgenomics.io.array_file import ArrayFile
from oclgenomics.runtime import Device, Engine
from oclgenomics.sequence.records import read_records

EDGE = DATA / "edge"
MEMORY = 2_500_000  # bytes: no room for an index of all targets
OPTIONS = BuildOptions(SketchOptions(8, 6, 30))
# Of the viruses: taxid, reads called, added and estimated
SHARES = [("12637", 552, 0, 552), ("565995", 319, 0, 319), ("10335", 299, 0, 299), ("10244", 281, 1, 282)]
FIVE = QueryOptions(5, repeats=True)
GENUS = QueryOptions(lowest="genus", maxcand=3, repeats=True)
SOUGHT = Wanted(all_hits=True, features=True)
Sought = tuple[list[Input], list[tuple[QueryOptions | None, QueryResult]]]
SMALL_BLOCKS = {"cpu": 30_000, "gpu": 30_000}


@pytest.fixture(scope="module")
def database(device: Device) -> Database:
    return build(EDGE / "edge_ref.fna", METACACHE_BUILD, taxonomy=EDGE, engine=device)


@pytest.fixture(scope="module")
def small(device: Device) -> Database:
    """With sketches that have much in common."""
    return build(EDGE / "edge_ref.fna", OPTIONS, taxonomy=EDGE, engine=device)


@pytest.fixture(scope="module")
def viral(device: Device) -> Database:
    return build(DATA / "viral" / "ref", METACACHE_BUILD, taxonomy=DATA / "viral" / "tax", engine=device)


@pytest.fixture(scope="module")
def viral_reads(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with some reads of the viruses, which still make many small blocks."""
    folder = tmp_path_factory.mktemp("reads")
    for name, lines in (("se150", 6000), ("pe125_1", 2000), ("pe125_2", 2000)):
        with gzip.open(DATA / "viral" / "reads" / f"{name}.fq.gz") as whole:
            (folder / f"{name}.fq").write_bytes(b"".join(islice(whole, lines)))
    return folder


def features_of(database: Database) -> reference.Locations:
    targets = [record.letters for record in read_records(EDGE / "edge_ref.fna")]
    return reference.build_features(targets, database.options)


def check(result: QueryResult, expected: list[list[Any]]) -> None:
    found = [part.candidates.of(i) for part in result.parts for i in range(len(part))]
    assert found == expected


@settings(max_examples=examples(20))
@given(
    st.lists(st.integers(0, 200), min_size=1, max_size=12),
    st.sampled_from(["sequence", "species", "genus"]),
    st.integers(1, 4),
    st.booleans(),
    st.integers(0, 300),
)
def test_candidates_of_any_reads(
    shaped: Engine,
    small: Database,
    tmp_path_factory: pytest.TempPathFactory,
    lengths: list[int],
    lowest: str,
    maxcand: int,
    paired: bool,
    insertsize: int,
) -> None:
    rng = np.random.default_rng(sum(lengths))
    genome = b"".join(record.letters for record in read_records(EDGE / "edge_ref.fna"))
    begins = rng.integers(0, len(genome), 2 * len(lengths))
    reads = [genome[begin : begin + length] for begin, length in zip(begins, lengths * 2, strict=True)]
    folder = tmp_path_factory.mktemp("reads")
    mates = [reads[: len(lengths)], reads[len(lengths) :]]
    for name, some in zip("ab", mates, strict=True):
        (folder / name).write_bytes(b"".join(b"@r%d\n%b\n+\n%b\n" % (i, r, b"I" * len(r)) for i, r in enumerate(some)))
    options = QueryOptions(1, maxcand=maxcand, lowest=lowest, insertsize=insertsize)
    files = {"paired": [(folder / "a", folder / "b")]} if paired else {}
    found = query([] if paired else [folder / "a"], small, options, engine=shaped, **files)
    groups = [None if group < 0 else group for group in found.lineages.groups(lowest).tolist()]
    sketch, features = small.options.sketch, features_of(small)
    expected = []
    for together in zip(*mates, strict=True) if paired else [[read] for read in mates[0]]:
        letters = np.array([sum(map(len, together))], np.int64)
        width = int(range_widths(letters, insertsize, sketch.winstride)[0])
        expected.append(reference.find_candidates(list(together), features, sketch, width, maxcand, groups))
    check(found, expected)


def test_a_result(database: Database, engine: Engine) -> None:
    result = query(EDGE / "edge_reads.fa", database, QueryOptions(hitmin=5, repeats=True), engine=engine)
    assert repr(result) == "QueryResult(reads=15, classified=9, targets=17)"
    assert len(result) == len(result.records()) == 15
    rows = {row["read"]: row for row in result.records()}
    assert rows["w127"] == {
        "read": "w127", "source": str(EDGE / "edge_reads.fa"), "letters": 127, "mate_letters": 0, "taxid": 50,
        "rank": "genus", "taxon": "T50", "target": "EDG_000501.1", "hits": 16, "needed_hits": 5,
    }  # fmt: skip
    nothing = {"taxid": 0, "rank": "", "taxon": "", "target": "", "hits": 0}
    assert {name: rows["r15"][name] for name in nothing} == nothing
    sequence = query(EDGE / "edge_reads.fa", database, QueryOptions(hitmin=1, hitdiff=1.0, repeats=True), engine=engine)
    rows = {row["read"]: row for row in sequence.records()}
    assert (rows["polyA"]["rank"], rows["polyA"]["taxon"], rows["polyA"]["taxid"]) == ("sequence", "EDG_000511.1", 511)


def test_parts_are_the_result(database: Database, engine: Engine) -> None:
    parts = list(iter_query(EDGE / "edge_reads.fa", database, engine=engine))
    assert sum(map(len, parts)) == 15
    assert all(part.located is None and not part.texts for part in parts)


def test_an_index_answers_many_queries(database: Database, engine: Engine, tmp_path: Path) -> None:
    write_database(tmp_path / "db", database)
    inputs = checked_inputs(EDGE / "edge_reads.fa", None, interleaved=False)
    several = [
        QueryOptions(1, maxcand=maxcand, lowest=lowest) for maxcand in (2, 5) for lowest in ("sequence", "genus")
    ]
    with Index(tmp_path / "db", engine=engine) as index:
        answers = [index.query(inputs, options).records() for options in several * 2]
    index.close()
    alone = [query(EDGE / "edge_reads.fa", database, options, engine=engine).records() for options in several]
    assert answers == alone * 2


@pytest.mark.parametrize("memory", [None, MEMORY])
def test_features_of_a_file_need_not_be_in_memory(
    viral: Database,
    viral_reads: Path,
    device: Device,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    memory: int | None,
) -> None:
    """An index of a file answers as one of the database, and knows the same of it; none of a part is kept twice."""
    write_database(tmp_path / "db", viral)
    inputs = checked_inputs(viral_reads / "se150.fq", None, interleaved=False)
    monkeypatch.setattr(plan, "LOADED_FEATURES", {"cpu": 1000, "gpu": 1000})
    monkeypatch.setattr(plan, "LOADED_LOCATIONS", {"cpu": 3000, "gpu": 3000})
    with (
        Engine(device, max_memory=memory) as one,
        Engine(device, max_memory=memory) as other,
        Index(viral, engine=one) as whole,
        Index(tmp_path / "db", engine=other) as stored,
    ):
        assert isinstance(stored._finder, SoughtFinder if memory else WholeFinder)
        assert not len(stored.database.features)
        assert whole.database is viral
        assert stored.facts == whole.facts == database_facts(viral)
        assert stored.query(inputs).records() == whole.query(inputs).records()


@pytest.fixture(scope="module")
def sought(viral: Database, viral_reads: Path, engine: Engine) -> dict[str, Sought]:
    """Single reads, and these with pairs, and what an index in memory finds for each of some options."""
    mates = tuple(viral_reads / f"pe125_{mate}.fq" for mate in (1, 2))
    found = {}
    with pytest.MonkeyPatch.context() as patch, Index(viral, engine=engine) as whole:
        patch.setattr(index, "BLOCKS", SMALL_BLOCKS)
        for name, paired in (("single", None), ("all", [mates])):
            inputs = checked_inputs(viral_reads / "se150.fq", paired, interleaved=False)
            found[name] = inputs, [(options, whole.query(inputs, options, SOUGHT)) for options in (None, GENUS)]
    return found


@pytest.mark.parametrize(
    ("streamed", "populous", "expected", "times"),
    [(1 << 21, 2, {True}, 1), (25_000, 2, {True}, None), (1 << 21, 0, {False}, None), (800, 2, set[bool](), 0)],
)
def test_features_pass_a_filter_of_those_that_reads_have(
    viral: Database,
    sought: dict[str, Sought],
    engine: Engine,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    streamed: int,
    populous: int,
    expected: set[bool],
    times: int | None,
) -> None:
    """Those of many reads at a time, of fewer if there is no room; those of a batch that is too large are sought."""
    write_database(tmp_path / "db", viral)
    inputs, results = sought["single"]
    passed = list[bool]()
    monkeypatch.setattr(index, "BLOCKS", SMALL_BLOCKS)
    monkeypatch.setattr(plan, "POPULOUS", populous)
    monkeypatch.setattr(plan, "MIN_STREAMED", 0)
    monkeypatch.setattr(plan, "MAX_LOCATIONS_OF_FEATURE", 100)
    monkeypatch.setattr(finder, "SOUGHT_BYTES", 4000)
    passing = SoughtFinder._passing

    def noted(self: SoughtFinder, *args: Any) -> FeatureIndex | None:
        found = passing(self, *args)
        passed.append(found is not None)
        return found

    monkeypatch.setattr(SoughtFinder, "_passing", noted)
    with Index(tmp_path / "db", engine=engine, memory_mapping=True) as stored:
        assert isinstance(stored._finder, SoughtFinder)
        stored._finder._streamed, stored._finder._most = streamed, 0
        for options, told in results:
            passed.clear()
            found = stored.query(inputs, options, SOUGHT)
            assert found.records() == told.records()
            for one, other in zip(found.parts, told.parts, strict=True):
                assert_same_hits(one, other)
                assert_same_features(one, other)
            assert set(passed) == expected
            assert len(passed) == times if times is not None else len(passed) > 2


@pytest.mark.parametrize(("sought_bytes", "most"), [(16 << 20, None), (2000, None), (2000, 10_000), (16 << 20, 100)])
def test_features_are_read_as_reads_need_them(
    viral: Database,
    sought: dict[str, Sought],
    engine: Engine,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    sought_bytes: int,
    most: int | None,
) -> None:
    """However many are read at a time, and if the database is brought to the device after some reads."""
    write_database(tmp_path / "db", viral)
    monkeypatch.setattr(finder, "SOUGHT_BYTES", sought_bytes)
    inputs, results = sought["all"]
    known = known_features(viral.features, Lineages.of(viral.taxonomy, viral.targets)).tolist()
    with Index(tmp_path / "db", engine=engine, memory_mapping=True if most is None else None) as stored:
        assert isinstance(stored._finder, SoughtFinder)
        stored._finder._most = most
        monkeypatch.setattr(index, "BLOCKS", SMALL_BLOCKS)
        for options, expected in results:
            found = stored.query(inputs, options, SOUGHT)
            assert found.records() == expected.records()
            for one, other in zip(found.parts, expected.parts, strict=True):
                assert_same_hits(one, other)
                assert_same_features(one, other)
            assert stored.known_features().tolist() == known
        assert (stored._finder._loaded is None) == (most is None)


def assert_same_hits(one: ClassifiedReads, other: ClassifiedReads) -> None:
    assert one.located is not None
    assert other.located is not None
    for field in fields(Hits):
        assert getattr(one.located, field.name).tolist() == getattr(other.located, field.name).tolist()


def assert_same_features(one: ClassifiedReads, other: ClassifiedReads) -> None:
    assert one.shared is not None
    assert other.shared is not None
    assert one.shared.features.size
    for field in fields(SharedFeatures):
        assert getattr(one.shared, field.name).tolist() == getattr(other.shared, field.name).tolist()


@pytest.mark.parametrize("section", ["key_starts", "location_starts", "keys", "locations"])
def test_a_damaged_block_is_an_error_when_it_is_used(
    viral: Database, engine: Engine, tmp_path: Path, section: str
) -> None:
    """And only then: reads that need other blocks are classified as ever."""
    write_database(tmp_path / "db", viral)
    with ArrayFile(tmp_path / "db", KIND) as file:
        found, start = file._find(section, file.sections[section].dtype, 1)
    first, last = tmp_path / "first.fa", tmp_path / "last.fa"
    first.write_text(f">first\n{kmer_of(int(viral.features.keys[0]))}\n")
    last.write_text(f">last\n{kmer_of(int(viral.features.keys[-1]))}\n")
    hits = [
        query(path, tmp_path / "db", wanted=Wanted(all_hits=True), engine=engine).parts[0] for path in (first, last)
    ]
    assert [int(part.located.hits.sum()) for part in hits if part.located] == viral.features.counts[[0, -1]].tolist()
    data = bytearray((tmp_path / "db").read_bytes())
    data[start] ^= 1
    (tmp_path / "db").write_bytes(data)
    with Index(tmp_path / "db", engine=engine, memory_mapping=True) as stored:
        with pytest.raises(InputError, match=rf"db.*section '{section}' is damaged .*build it again"):
            stored.query(first)
        if found.blocks > 1:
            assert_same_hits(stored.query(last, wanted=Wanted(all_hits=True)).parts[0], hits[1])


def kmer_of(key: int) -> str:
    """The canonical k-mer, or its reverse complement, whose feature has a key."""
    number = int(unmix(np.array([key], np.uint32))[0])
    number ^= number >> 16
    for _ in range(2):
        number = number * pow(0x45D9F3B, -1, 1 << 32) % (1 << 32)
        number ^= number >> 16
    return "".join("ACGT"[number >> 2 * place & 3] for place in reversed(range(16)))


def test_older_versions_are_not_mapped(viral: Database, engine: Engine, tmp_path: Path) -> None:
    write_as(tmp_path / "db", viral, PLAIN)
    with pytest.raises(UsageError, match=r"memory_mapping: .*current version of the format; build it again"):
        Index(tmp_path / "db", engine=engine, memory_mapping=True)
    reads = DATA / "viral" / "reads" / "se150.fq.gz"
    with Index(tmp_path / "db", engine=engine, memory_mapping=None) as stored, Index(viral, engine=engine) as whole:
        assert stored.query(reads).records() == whole.query(reads).records()


@pytest.mark.parametrize("section", ["keys", "key_starts", "locations"])
def test_an_index_of_a_damaged_file(viral: Database, engine: Engine, tmp_path: Path, section: str) -> None:
    """Also one that could be right, and is noticed when all is on the device."""
    write_database(tmp_path / "db", viral)
    gc.collect()  # what tests before left
    used = engine.memory.used
    with ArrayFile(tmp_path / "db", KIND) as file:
        found, start = file._find(section, file.sections[section].dtype, 1)
    data = bytearray((tmp_path / "db").read_bytes())
    data[start + found.bytes - np.dtype(found.dtype).itemsize] ^= 1
    (tmp_path / "db").write_bytes(data)
    with pytest.raises(InputError, match=r"db.*(damaged|contradicts itself).*build it again"):
        Index(tmp_path / "db", engine=engine)
    gc.collect()
    assert engine.memory.used == used


def test_reads_of_other_lengths_are_not_classified(database: Database, engine: Engine) -> None:
    options = replace(FIVE, min_readlen=100, max_readlen=130)
    whole = query(EDGE / "edge_reads.fa", database, FIVE, engine=engine).records()
    rows = query(EDGE / "edge_reads.fa", database, options, engine=engine).records()
    assert [row["read"] for row in rows] == [row["read"] for row in whole]
    for row, other in zip(rows, whole, strict=True):
        if 100 <= row["letters"] <= 130:
            assert row == other
        else:
            assert (row["taxon"], row["target"], row["hits"]) == ("", "", 0)


def test_targets_that_are_covered_badly(viral: Database, engine: Engine) -> None:
    reads = DATA / "viral" / "reads" / "se150.fq.gz"
    every, few = (query(reads, viral, replace(FIVE, cov_percentile=share), engine=engine) for share in (0.0, 0.5))
    assert 0 < few.classified < every.classified
    left = {row["target"] for row in few.records()} - {""}
    assert left < {row["target"] for row in every.records()}


def test_all_hits_and_texts(database: Database, engine: Engine) -> None:
    wanted = Wanted(texts=True, all_hits=True, limit=3)
    (part,) = iter_query(EDGE / "edge_reads.fa", database, engine=engine, wanted=wanted)
    assert len(part) == 3
    assert part.located is not None
    assert part.located.hits[: part.located.offsets[1]].sum() == part.candidates.located[0]
    records = list(read_records(EDGE / "edge_reads.fa"))[:3]
    for text, record in zip(part.texts[0], records, strict=True):
        header, *letters = text.split()
        assert (header, "".join(letters)) == (f">{record.name}", record.letters.decode())


def test_memory_for_parts_of_the_database(viral: Database, device: Device) -> None:
    """With all hits, which are put together of the parts, and with texts, which are kept meanwhile."""
    reads, wanted = (
        DATA / "viral" / "reads" / "se150.fq.gz",
        Wanted(texts=True, all_hits=True, limit=500, features=True),
    )
    options = QueryOptions(1, maxcand=4, lowest="species")
    with Engine(device, max_memory=MEMORY) as engine, Index(viral, engine=engine) as index:
        assert isinstance(index._finder, PartFinder)
    found = []
    for memory in (None, MEMORY):
        with Engine(device, max_memory=memory) as engine:
            result = query(reads, viral, options, engine=engine, wanted=wanted)
        hits = Hits.joined([part.located for part in result.parts if part.located is not None])
        shared = SharedFeatures.joined([part.shared for part in result.parts if part.shared is not None])
        assert len(shared.features) > 500
        found.append([
            shared.offsets.tolist(), shared.features.tolist(),
            [part.candidates.of(i) for part in result.parts for i in range(len(part))], result.records(),
            [text for part in result.parts for text in part.texts[0]],
            *(array.tolist() for array in (hits.offsets, hits.targets, hits.windows, hits.hits)),
        ])  # fmt: skip
    assert found[0] == found[1]
    assert len(found[0][4]) == 500


def test_run_is_build_and_query(database: Database, engine: Engine) -> None:
    reads = EDGE / "edge_reads.fa"
    references = EDGE / "edge_ref.fna"
    found = run(reads, references, FIVE, build_options=METACACHE_BUILD, taxonomy=EDGE, engine=engine)
    assert found.records() == query(reads, database, FIVE, engine=engine).records()


def test_what_cannot_be_queried(database: Database, engine: Engine, tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="there are no reads to classify"):
        query([], database, engine=engine)
    with pytest.raises(UsageError, match="standard input"):
        query(["-", "-"], database, engine=engine)
    (tmp_path / "link").symlink_to(EDGE / "edge_reads.fa")
    for twice in (EDGE / "edge_reads.fa", tmp_path / "link"):
        with pytest.raises(UsageError, match="are one file"):
            query([], database, paired=[(EDGE / "edge_reads.fa", twice)], engine=engine)
    with pytest.raises(UsageError, match="standard input"):
        query([], database, paired=[("-", "-")], engine=engine)
    with pytest.raises(ParameterError, match="min_readlen"):
        QueryOptions(min_readlen=11, max_readlen=10)
    assert QueryOptions(min_readlen=10, max_readlen=10).min_readlen == 10
    with pytest.raises(ParameterError, match="limit=0"):
        Wanted(limit=0)
    (tmp_path / "x").write_bytes(b"@r\nACGT\n+\nIII\n")
    with pytest.raises(InputError, match="x, record 1"):
        query(tmp_path / "x", database, engine=engine)
    with pytest.raises(InputError):
        query(EDGE / "edge_reads.fa", tmp_path / "x", engine=engine)


def test_a_database_without_taxa(database: Database, engine: Engine, tmp_path: Path) -> None:
    bare = build(EDGE / "edge_ref.fna", engine=engine)
    write_database(tmp_path / "db", replace(bare, provenance={}))
    rows = query(EDGE / "edge_reads.fa", read_database(tmp_path / "db"), FIVE, engine=engine).records()
    taxa = {row["taxon"] for row in rows}
    assert taxa <= {*bare.targets.names, ""}
    assert {row["taxid"] for row in rows} == {0}


def test_hits_of_both_mates_count_together(viral: Database, engine: Engine, tmp_path: Path) -> None:
    genome = next(read_records(sorted((DATA / "viral" / "ref").iterdir())[0])).letters
    begins = range(0, min(len(genome) - 500, 4_000), 97)
    turned = bytes.maketrans(b"ACGT", b"TGCA")
    for name, first in (("a", True), ("b", False)):
        ends = [genome[at : at + 75] if first else genome[at + 425 : at + 500] for at in begins]
        mates = ends if first else [end.translate(turned)[::-1] for end in ends]
        (tmp_path / name).write_bytes(b"".join(b">r%d\n%b\n" % (i, mate) for i, mate in enumerate(mates)))
    pairs = [(tmp_path / "a", tmp_path / "b")]

    def hits(**options: int) -> np.ndarray:
        found = query([], viral, QueryOptions(**options), paired=pairs, engine=engine, wanted=Wanted(any_mates=True))
        return np.concatenate([part.candidates.hits[:, 0] for part in found.parts])

    assert (hits() == hits(insertsize=600)).all()
    apart = hits(insertsize=150)  # of which a mate is too far from the other one
    assert (hits() >= apart).all()
    assert (hits() > apart).mean() > 0.9
    assert (hits(hitmin=5) == hits(hitmin=5, insertsize=150)).all()  # as in MetaCache


def test_coverage_keeps_the_rules_of_calls(viral: Database, engine: Engine) -> None:
    options = QueryOptions(cov_percentile=0.2)
    mates = [tuple(DATA / "viral" / "reads" / f"pe125_{mate}.fq.gz" for mate in (1, 2))]
    found = query([], viral, options, paired=mates, engine=engine, wanted=Wanted(limit=4_000))
    other = 0
    for part in found.parts:
        lead = needed_lead(part.reads.kmers(16), viral.options.sketch, options)
        caller = Caller(found.lineages, options)
        called = [caller.call(part.candidates, part.calls.hitmin, one) for one in (lead, None)]
        assert (part.calls.taxon == called[0].taxon).all()
        other += np.count_nonzero(called[0].taxon != called[1].taxon)
    assert other  # the lead is not the hits that reads need


def test_shares_are_the_same_on_every_device(viral: Database, engine: Engine) -> None:
    with Index(viral, engine=engine) as index:
        tally = Tally(index.lineages, viral.options.sketch)
        inputs = checked_inputs(DATA / "viral" / "reads" / "se150.fq.gz", None, interleaved=False)
        for part in index.iter_query(inputs, QueryOptions(), Wanted(limit=4_000)):
            tally.add(part)
    rows = [row.split("\t") for row in bracken_table(tally).splitlines()[1:]]
    largest = sorted(rows, key=lambda row: -int(row[5]))[:4]
    assert [(row[1], *map(int, row[3:6])) for row in largest] == SHARES
