"""The verbs of the library as a notebook calls them: with paths or sets, with an engine or without."""

from __future__ import annotations

import gzip
import io
import re
import sys
from pathlib import Path

import numpy as np
import pytest
from helpers.kmer_sets import GOLDEN, A, B, C, as_dict, pairs_of, set_of, write_database

from oclgenomics import kmers
from oclgenomics.app.run import Run
from oclgenomics.errors import InputError, OutputError, UsageError
from oclgenomics.kmers import CountOptions, CountSummary, KmerDatabase, KmerSet, count, count_to_database
from oclgenomics.kmers.commands import dump as dump_command, merge as merge_command
from oclgenomics.kmers.options import COUNT_MODES, DUMP_FORMATS, OPERATIONS, DumpFormat
from oclgenomics.runtime import Device, Engine
from oclgenomics.sequence.files import InputProgress
from oclgenomics.sequence.records import Record, read_records

PAIRS_A = pairs_of(GOLDEN[0][3], 5)


@pytest.fixture
def text(tmp_path: Path) -> Path:
    path = tmp_path / "a.fa"
    path.write_bytes(A)
    return path


def test_all_names_are_there() -> None:
    assert kmers.__all__ == sorted(kmers.__all__)
    assert all(getattr(kmers, name).__doc__ for name in kmers.__all__)


# count


def test_a_count_needs_no_engine(device: Device, text: Path, tmp_path: Path) -> None:
    counted = count(text, CountOptions(5), engine=device)
    assert as_dict(list(counted.blocks()), 5) == PAIRS_A
    summary = count_to_database([str(text)], CountOptions(5), tmp_path / "x.db", engine=device)
    assert (summary.kmers, summary.distinct, summary.total) == (17, 9, 17)
    with KmerDatabase.open(tmp_path / "x.db") as database:
        assert list(database.records()) == list(counted.records())


def test_the_old_keywords_still_work(device: Device, text: Path, tmp_path: Path) -> None:
    told: list[tuple[int, int | None]] = []
    with pytest.warns(DeprecationWarning, match=r"count: device, max_memory, progress: give engine="):
        counted = count(
            text, CountOptions(5), device=device, max_memory=64 << 20, progress=lambda *now: told.append(now)
        )
    assert as_dict(list(counted.blocks()), 5) == PAIRS_A
    assert told[-1] == (len(A), len(A))
    with pytest.warns(DeprecationWarning, match="matrix: device: give engine="):
        assert kmers.matrix({"a": text}, options=CountOptions(5), device=device, tmp_dir=tmp_path).names == ("a",)


def test_an_engine_that_is_given_stays_open(engine: Engine, text: Path) -> None:
    first = count(text, CountOptions(5), engine=engine)
    assert list(count(text, CountOptions(5), engine=engine).records()) == list(first.records())
    assert engine.download(engine.upload(np.arange(3))).tolist() == [0, 1, 2]


def test_an_engine_of_its_own_is_closed(text: Path, device: Device, monkeypatch: pytest.MonkeyPatch) -> None:
    left: list[Engine] = []

    def leave(engine: Engine, *error: object) -> None:
        left.append(engine)

    monkeypatch.setattr(Engine, "__exit__", leave)
    count(text, CountOptions(5), engine=device)
    with pytest.raises(InputError):
        count("missing.fa", CountOptions(5), engine=device)
    assert len(left) == 2


def test_progress_is_of_all_files(engine: Engine, tmp_path: Path) -> None:
    paths = [tmp_path / "b.fa", tmp_path / "c.fa.gz"]
    paths[0].write_bytes(B)
    paths[1].write_bytes(gzip.compress(C))
    size = sum(path.stat().st_size for path in paths)
    told: list[tuple[int, int | None]] = []
    count(paths, CountOptions(5), engine=engine, run=Run(progress=lambda *now: told.append(now)))
    assert [done for done, _ in told] == sorted(done for done, _ in told)
    assert paths[0].stat().st_size in [done for done, _ in told]
    assert told[-1] == (size, size)
    assert {total for _, total in told} == {size}


def test_progress_of_standard_input_has_no_end(engine: Engine, text: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(B)))
    told: list[tuple[int, int | None]] = []
    count(["-", text], CountOptions(5), engine=engine, run=Run(progress=lambda *now: told.append(now)))
    assert told[-1] == (len(A) + len(B), None)


def test_progress_of_sets_is_of_their_kmers(tmp_path: Path) -> None:
    sets = [set_of({"AAAAC": 2, "ACGTA": 1}, 5), set_of({"ACGTA": 3, "CCGTA": 1, "CGTAA": 1}, 5)]
    told: list[tuple[int, int | None]] = []
    run = Run(progress=lambda *now: told.append(now))
    kmers.merge(sets, run=run)
    assert told[-1] == (5, 5)
    kmers.dump(sets[1], tmp_path / "x.tsv", run=run)
    assert told[-1] == (3, 3)
    merging: list[bool] = []
    kmers.matrix({"a": sets[0], "b": sets[1]}, run=run, on_merge=lambda: merging.append(True))
    assert (told[-1], merging) == ((5, 5), [True])


def test_progress_adds_the_files_before() -> None:
    told: list[tuple[int, int | None]] = []
    progress = InputProgress(["missing"], lambda *now: told.append(now))
    for done in (3, 5):
        progress(done, 5)
    progress.end_file()
    progress(2, 9)
    assert told == [(3, None), (5, None), (7, None)]


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"min_quality": 94}, "min_quality=94: qualities are 0 to 93"),
        ({"min_quality": -1}, "min_quality=-1: qualities are 0 to 93"),
    ],
)
def test_wrong_parameters_of_a_count(options: dict[str, int], message: str) -> None:
    with pytest.raises(UsageError, match=re.escape(message)):
        count("x.fa", CountOptions(5), **options)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"k": 0}, "k=0: k-mers have 1 to 256 bases"),
        ({"k": 5, "min_count": 3, "max_count": 2}, "min_count=3 max_count=2: take 1 <= min <= max"),
        ({"k": 5, "counter_max": 0}, "counter_max=0: counters hold"),
        ({"k": 5, "min_count": 1 << 32, "max_count": 1 << 32}, "min_count=4294967296: counters hold at most"),
    ],
)
def test_errors_name_parameters(options: dict[str, int], message: str) -> None:
    with pytest.raises(UsageError, match=re.escape(message)):
        CountOptions(**options)


def test_a_folder_that_is_missing_is_told_first(tmp_path: Path) -> None:
    with pytest.raises(OutputError, match="no such folder"):
        count("missing.fa", CountOptions(5), tmp_dir=tmp_path / "none")


def test_a_summary_is_one_line_and_one_record(engine: Engine, text: Path, tmp_path: Path) -> None:
    summary = count_to_database(text, CountOptions(5), tmp_path / "x.db", engine=engine)
    assert repr(summary) == "CountSummary(kmers=17, distinct=9, total=17)"
    (record,) = summary.records()
    assert (record["kmers"], record["records"], record["letters"], record["uracils"]) == (17, 1, 21, 0)
    assert isinstance(summary, CountSummary)
    assert summary.census.letters == 21  # records leaves the summary as it is


# merge


ONE, OTHER = {"AAAAC": 1, "ACGTA": 2}, {"ACGTA": 3, "CCCCA": 7}
MERGED = [
    ("union", {"AAAAC": 1, "ACGTA": 5, "CCCCA": 7}),
    ("intersect", {"ACGTA": 2}),
    ("subtract", {"AAAAC": 1}),
]


@pytest.mark.parametrize(("operation", "expected"), MERGED)
def test_merge(operation: str, expected: dict[str, int], tmp_path: Path) -> None:
    sources = [write_database(tmp_path / "one", set_of(ONE, 5)), set_of(OTHER, 5)]
    found: KmerSet = kmers.merge(sources, operation)
    assert as_dict(list(found.blocks()), 5) == expected
    summary = kmers.merge_databases(sources, tmp_path / "out", operation)
    assert summary.records() == [
        {"k": 5, "canonical": True, "distinct": len(expected), "total": sum(expected.values())}
    ]
    with KmerDatabase.open(tmp_path / "out") as database:
        assert as_dict(list(database.blocks()), 5) == expected


def test_a_merge_of_nothing_in_common(tmp_path: Path) -> None:
    sets = [set_of({"AAAAC": 1}, 5), set_of({"CCCCA": 7}, 5)]
    assert kmers.merge(sets, "intersect").distinct == 0
    assert kmers.merge_databases(sets, tmp_path / "out", "intersect").total == 0


def test_a_merge_may_replace_one_of_its_sources(tmp_path: Path) -> None:
    one, other = write_database(tmp_path / "one", set_of(ONE, 5)), set_of(OTHER, 5)
    assert kmers.merge_databases([one, other], one).distinct == 3
    with KmerDatabase.open(one) as database:
        assert as_dict(list(database.blocks()), 5) == dict(MERGED[0][1])


def test_mistakes_of_a_merge(tmp_path: Path) -> None:
    sets = [set_of(ONE, 5), set_of(OTHER, 5)]
    with pytest.raises(UsageError, match=r"^operation='xor': choose one of union, intersect, subtract"):
        kmers.merge(sets, "xor")  # type: ignore[arg-type]
    with pytest.raises(UsageError, match="two databases or more"):
        kmers.merge(sets[:1])
    with pytest.raises(UsageError, match="two databases or more"):
        kmers.merge("one.db")
    with pytest.raises(UsageError, match="of one k"):
        kmers.merge_databases([sets[0], set_of({"ACGTAC": 1}, 6)], tmp_path / "out")
    assert not list(tmp_path.iterdir())


# histogram


def test_histogram_of_a_database_and_of_a_set(tmp_path: Path) -> None:
    path = write_database(tmp_path / "x", set_of(PAIRS_A, 5))
    for source in (path, str(path), set_of(PAIRS_A, 5)):
        found = kmers.histogram(source)
        assert found.records() == [{"count": 1, "kmers": 4}, {"count": 2, "kmers": 2}, {"count": 3, "kmers": 3}]
        assert repr(found) == "Histogram(distinct=9, total=17, largest=3)"
    with pytest.raises(InputError, match="missing"):
        kmers.histogram(tmp_path / "missing")


def test_a_spectrum_is_one_line_and_one_record() -> None:
    counts = np.arange(1, 60)
    found = kmers.Histogram(counts, np.rint(1e5 * np.exp(-((counts - 30) ** 2) / 60)).astype(np.int64))
    spectrum = kmers.read_spectrum(found, 21)
    assert re.fullmatch(r"Spectrum\(coverage=30\.\d, genome_size=\d+\)", repr(spectrum))
    (record,) = spectrum.records()
    assert record["coverage"] == spectrum.coverage
    assert record["fit"]["coverage"] == pytest.approx(30, rel=0.05)
    assert repr(kmers.read_spectrum(kmers.histogram(set_of(PAIRS_A, 5)), 5)) == "Spectrum(no coverage peak)"


# query


def test_query_of_kmers_and_sequences(tmp_path: Path) -> None:
    path = write_database(tmp_path / "x", set_of(PAIRS_A, 5))
    expected = [
        {"record": "1", "position": 1, "kmer": "GATTA", "count": 3},
        {"record": "2", "position": 2, "kmer": "taatc", "count": 3},
        {"record": "b", "position": 1, "kmer": "CCCCC", "count": 0},
    ]
    given = ["GATTA", "NtaatcNN", Record("b", b"CCCCC"), Record("short", b"ACG")]
    for source in (path, set_of(PAIRS_A, 5)):
        found = kmers.query(source, given)
        assert list(found.records()) == list(found.records()) == expected
        (summaries,) = found.by_record()
        assert [row["mean"] for row in summaries.records()] == [3.0, 3.0, 0.0, None]
        (part,) = found
        assert list(part.records()) == expected
        assert repr(part) == "FoundKmers(k=5, 4 sequences, 3 k-mers)"
        assert repr(summaries) == "RecordSummaries(4 sequences, 2 of 3 k-mers found)"
        assert repr(found).startswith("QueryResult(k=5, source=")
        assert "\n" not in repr(found)


def test_query_of_one_sequence_and_of_a_file(text: Path) -> None:
    found = set_of(PAIRS_A, 5)
    assert [row["count"] for row in kmers.query(found, "GATTAC").records()] == [3, 3]
    (summaries,) = kmers.query(found, read_records(text)).by_record()
    assert next(summaries.records()) == {"record": "a", "kmers": 17, "found": 17, "mean": 39 / 17, "median": 3.0}


def test_mistakes_of_a_query(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="'GATT' has 4 bases"):
        list(kmers.query(set_of(PAIRS_A, 5), ["GATT"]))
    with pytest.raises(InputError, match="missing"):
        kmers.query(tmp_path / "missing", ["GATT"])


def test_counts_of_kmers_in_their_order(tmp_path: Path) -> None:
    path = write_database(tmp_path / "x", set_of(PAIRS_A, 5))
    assert kmers.counts_of(path, ["TAATC", "CCCCC", "acaga"]).tolist() == [3, 0, 1]


# dump


@pytest.mark.parametrize("format", DUMP_FORMATS)
def test_dump_of_a_database_and_of_a_set(format: DumpFormat, tmp_path: Path) -> None:
    if format == "parquet":
        pytest.importorskip("pyarrow.parquet", reason="the extra `parquet` is not installed")
    path = write_database(tmp_path / "x.db", set_of(PAIRS_A, 5))
    written = []
    for name, source in (("one", path), ("other", set_of(PAIRS_A, 5))):
        kmers.dump(source, tmp_path / name, format, min_count=2)
        suffixes = {"kmc": [".kmc_pre", ".kmc_suf"], "fastk": [".ktab"]}
        found = sorted(tmp_path.glob(f"{name}*"))
        assert [file.suffix for file in found] == suffixes.get(format, [""])
        found += sorted(tmp_path.glob(f".{name}.ktab.*"))
        assert len(found) == (2 if format in suffixes else 1)
        written.append([file.read_bytes() for file in found])
    assert written[0] == written[1]
    if format == "tsv":
        assert written[0] == ["".join(f"{w}\t{c}\n" for w, c in PAIRS_A.items() if c >= 2).encode()]


def test_mistakes_of_a_dump(tmp_path: Path) -> None:
    found = set_of(PAIRS_A, 5)
    with pytest.raises(
        UsageError, match=r"^format='xml': choose one of tsv, jellyfish, fasta, npz, kmc, fastk, parquet"
    ):
        kmers.dump(found, tmp_path / "x", "xml")  # type: ignore[arg-type]
    with pytest.raises(UsageError, match=r"^format='kmc' writes two files"):
        kmers.dump(found, "-", "kmc")
    with pytest.raises(UsageError, match=r"^min_count=3 max_count=2: take"):
        kmers.dump(found, tmp_path / "x", min_count=3, max_count=2)
    with pytest.raises(OutputError):
        kmers.dump(found, tmp_path / "none" / "x")
    assert not list(tmp_path.iterdir())


def test_commands_name_the_choices_of_the_library() -> None:
    assert (dump_command.FORMATS, merge_command.OPERATIONS) == (DUMP_FORMATS, OPERATIONS)
    assert merge_command.MODES == COUNT_MODES
