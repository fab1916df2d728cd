"""Counts in pieces give what one count gives, byte for byte; pieces of different counts are refused."""

from __future__ import annotations

import gzip
import itertools
import json
import pickle
from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import asdict, fields, replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from helpers.kmer_sets import random_set, random_text, set_of, write_database
from helpers.pieces import check_combined, check_refusals, make_pieces, no_engine, outputs_of, spreads
from helpers.products import examples, only_whole, tried
from hypothesis import given, settings, strategies as st

from oclgenomics.app.jobs import Spread
from oclgenomics.app.pieces import PieceFile, PieceRecord, write_piece
from oclgenomics.app.run import Run
from oclgenomics.cli.main import main
from oclgenomics.errors import InputError, OutputError, ParameterError
from oclgenomics.kmers import CountJob, CountOptions, count, count_to_database, histogram_of_reads, reference
from oclgenomics.kmers.database.kmer_set import CountedKmers, KmerBlock
from oclgenomics.kmers.database.layout import SECTION_KMERS, section_bytes
from oclgenomics.kmers.database.section_file import Sections
from oclgenomics.kmers.device import counting
from oclgenomics.kmers.device.counting import KmerCounter, Spill, kept_blocks
from oclgenomics.kmers.device.reader import KmerDatabase
from oclgenomics.kmers.jobs import CountEnd, EncodedKmers, PieceKmers
from oclgenomics.kmers.options import MAX_COUNTER
from oclgenomics.kmers.plan import memory as plan
from oclgenomics.runtime import Device

GENOME = "".join(np.random.default_rng(5).choice(list("ACGT"), 700))
TEMPLATES = ["ACGT" * 90, "A" * 300, GENOME[:400], GENOME[300:]]
OTHER_OPTIONS = {"k": 6, "canonical": False, "min_count": 2, "max_count": 9, "counter_max": 3, "compressed": True}


def records(first: int, number: int, *, fastq: bool = True) -> str:
    """Reads of many lengths of a small genome, from none on, with other letters here and there."""
    rng, texts = np.random.default_rng(first), []
    for name in range(first, first + number):
        begin, size = int(rng.integers(0, 600)), int(rng.choice([0, 3, 40, 150, 400]))
        letters = list(GENOME[begin : begin + size])
        for place in np.flatnonzero(rng.random(len(letters)) < 0.004).tolist():
            letters[place] = str(rng.choice(list("NRUacgt*")))
        text = "".join(letters)
        if fastq:
            qualities = rng.integers(33, 75, len(text)).astype(np.uint8).tobytes().decode()
            texts.append(f"@read{name}\n{text}\n+\n{qualities}\n")
        else:
            texts.append(f">read{name}\n{text[:70]}\n{text[70:]}\n")
    return "".join(texts)


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    Path("a.fq").write_text(records(0, 60))
    Path("b.fq.gz").write_bytes(gzip.compress(records(60, 40).encode()))
    Path("c.fa").write_text(records(100, 30, fastq=False))
    Path("none.fq").write_text("")
    Path("set.fa").write_text(f">set\n{GENOME[100:350]}\n")
    write_database(Path("set.db"), random_set(5, 300))
    return tmp_path


@pytest.fixture(scope="module")
def two_threads() -> Iterator[ThreadPoolExecutor]:
    with ThreadPoolExecutor(2) as executor:
        yield executor


@pytest.mark.parametrize(
    ("inputs", "options", "few"),
    [
        ("a.fq", "-k 31", 3),
        ("a.fq", "-k 31 --min-count 4 --max-count 12 --counter-max 7", 7),
        ("a.fq none.fq c.fa b.fq.gz a.fq", "-k 5 --no-canonical --max-count 40", 7),
        ("c.fa b.fq.gz", "-k 33 --counter-max 1", 3),
        ("a.fq c.fa", "-k 65 --no-canonical --min-count 2", 3),
        ("a.fq b.fq.gz", "-k 200", 1),
        ("none.fq", "-k 21", 3),
        ("a.fq b.fq.gz", "-k 9 --min-quality 20", 3),
        ("a.fq c.fa", "-k 5 --only set.db --min-count 2", 3),
        ("c.fa b.fq.gz", "-k 21 --only set.fa", 1),
        ("@files.txt", "-k 15 --only @sets.txt", 3),
    ],
)
def test_combined_is_what_one_count_writes(device: Device, folder: Path, inputs: str, options: str, few: int) -> None:
    """Of so many pieces, and with `--whole` of any number."""
    Path("files.txt").write_text("c.fa\na.fq\n")
    Path("sets.txt").write_text("set.fa\nb.fq.gz\n")
    command = ["kmers", "count", *inputs.split(), *options.split()]
    on_device = ["-d", str(device.index)]
    check_combined(command, on_device, {"-o": "x.db"}, folder, tried([few], whole=range(1, 8)), also=on_device)


@st.composite
def some_reads(draw: st.DrawFn) -> list[str]:
    """Reads that have k-mers in common, and are cut by N."""
    size, place = st.integers(0, 260), st.integers(0, 120)
    pieces = st.builds(
        lambda text, begin, length: text[begin : begin + length], st.sampled_from(TEMPLATES), place, size
    )
    return draw(st.lists(st.lists(pieces, max_size=3).map("N".join), max_size=9))


@given(
    reads=some_reads(),
    k=st.sampled_from([5, 31, 33, 65, 200]),
    canonical=st.booleans(),
    bounds=st.tuples(st.integers(1, 4), st.integers(0, 30)),
    cap=st.sampled_from([1, 2, 5, MAX_COUNTER]),
    pieces=st.integers(1, 7),
    fastq=st.booleans(),
)
@settings(max_examples=examples(40))
def test_any_reads_in_any_number_of_pieces(
    device: Device, tmp_path_factory: pytest.TempPathFactory, two_threads: ThreadPoolExecutor, reads: list[str],
    k: int, canonical: bool, bounds: tuple[int, int], cap: int, pieces: int, fastq: bool,
) -> None:  # fmt: skip
    folder = tmp_path_factory.mktemp("any")
    texts = [f"@r\n{read}\n+\n{'I' * len(read)}\n" if fastq else f">r\n{read}\n" for read in reads]
    (folder / "x").write_text("".join(texts))
    options = CountOptions(k, canonical, bounds[0], sum(bounds), cap)
    how: dict[str, Any] = {"engine": str(device.index)}
    whole = count_to_database(folder / "x", options, folder / "whole.db", **how)
    summed = count_to_database(
        folder / "x", options, folder / "summed.db", executor=Spread(two_threads, pieces, folder), **how
    )
    assert (folder / "summed.db").read_bytes() == (folder / "whole.db").read_bytes()
    assert summed == whole
    with KmerDatabase.open(folder / "summed.db") as database:
        found = {record["kmer"]: record["count"] for record in database.records()}
    assert found == reference.count(["".join(texts).encode()], options)


def test_executors_give_what_one_count_gives(device: Device, folder: Path) -> None:
    paths = [str(folder / name) for name in ("a.fq", "none.fq", "c.fa", "b.fq.gz")]  # who is spawned may be elsewhere
    options, where = CountOptions(21, min_count=2, counter_max=9), str(device.index)
    whole = count_to_database(paths, options, "whole.db", engine=where)
    expected, spectrum = count(paths, options, engine=where), histogram_of_reads(paths, options, engine=where)
    for spread in spreads([1, 7], folder):
        assert count_to_database(paths, options, "x.db", engine=where, executor=spread) == whole
        assert Path("x.db").read_bytes() == Path("whole.db").read_bytes()
    with ThreadPoolExecutor(1) as executor:
        found = count(paths, options, engine=where, executor=executor)
        assert (found.k, found.canonical) == (21, True)
        np.testing.assert_array_equal(found.keys, expected.keys)
        np.testing.assert_array_equal(found.counts, expected.counts)
        assert histogram_of_reads(paths, options, engine=where, executor=executor).rows() == spectrum.rows()
        only = str(folder / "set.fa")
        some = count(paths, options, engine=where, only=only)
        assert count(paths, options, engine=where, only=only, executor=executor).records is not None
        np.testing.assert_array_equal(count(paths, options, engine=where, only=only, executor=executor).keys, some.keys)
    assert not list(folder.glob("oclgenomics-*"))


def told(capsys: pytest.CaptureFixture[str]) -> tuple[dict[str, Any], list[str]]:
    """The summary without its time, and warnings."""
    out, err = capsys.readouterr()
    result = json.loads(out)["result"]
    result.pop("seconds")
    return result, [line for line in err.splitlines() if ": warning: " in line and "holds nothing" not in line]


def test_combine_tells_what_one_count_tells(device: Device, folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    command = ["kmers", "count", "a.fq", "c.fa", "-k", "21", "--min-count", "3", "-d", str(device.index)]
    assert main([*command, "-o", "whole.db", "--json"]) == 0
    expected = told(capsys)
    assert expected[0]["census"]["records"] == 90
    assert expected[0]["census"]["uracils"] > 0
    assert len(expected[1]) == 2
    pieces = make_pieces(command, 4, folder)
    for path in ("a.fq", "c.fa"):
        Path(path).unlink()  # no input is read again
    capsys.readouterr()
    with no_engine():
        assert main(["kmers", "combine", *pieces, "-o", "x.db", "--json"]) == 0
    assert told(capsys) == expected
    with no_engine():
        assert main(["kmers", "combine", *pieces, "-o", "x.db"]) == 0
    out, err = capsys.readouterr()
    assert out == ""
    numbers = f"{expected[0]['windows']:,} 21-mers, {expected[0]['total']:,} of them kept, {expected[0]['distinct']:,}"
    assert f"oclgenomics: {numbers} distinct in " in err
    assert "wrote x.db" in err


def test_pieces_keep_json(device: Device, folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    pieces = make_pieces(["kmers", "count", "a.fq", "-k", "9", "-d", str(device.index), "--json"], 2, folder)
    assert capsys.readouterr().out == ""
    assert main(["kmers", "combine", *pieces, "-o", "x.db", "-q"]) == 0
    record = json.loads(capsys.readouterr().out)
    assert record["pieces"][0].startswith("1/2 on ")
    assert record["result"]["distinct"] == KmerDatabase.open("x.db").distinct


def test_temporary_runs_of_pieces_add_up(device: Device, folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    where, options, paths = str(device.index), CountOptions(31, min_count=2), ["a.fq", "c.fa", "b.fq.gz"]
    whole = count_to_database(paths, options, "whole.db", engine=where)
    assert whole.temporary_runs == 0
    monkeypatch.setattr(KmerCounter, "has_room", lambda counter, _: counter.kmers < 900)
    monkeypatch.setattr(counting, "largest_block", lambda _: 512)
    Path("runs").mkdir()
    with ThreadPoolExecutor(1) as executor:
        spread = Spread(executor, 3, folder)
        summed = count_to_database(paths, options, "x.db", engine=where, executor=spread, tmp_dir="runs")
        alone = count_to_database(paths, options, "x.db", engine=where, executor=Spread(executor, 1))
    assert Path("x.db").read_bytes() == Path("whole.db").read_bytes()
    assert min(summed.temporary_runs, alone.temporary_runs) >= 6
    assert summed.temporary_bytes > 0
    assert replace(summed, temporary_runs=0, temporary_bytes=0) == whole
    assert not list(Path("runs").iterdir())


@pytest.mark.parametrize("at_a_time", [2, *only_whole(3), 16])
def test_many_pieces_are_merged_some_at_a_time(
    device: Device, folder: Path, at_a_time: int, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    command = ["kmers", "count", "a.fq", "c.fa", "-k", "31", "--min-count", "3", "-d", str(device.index)]
    whole = outputs_of(command, {"-o": "x.db"}, folder / "whole")
    pieces = make_pieces(command, 17, folder)
    monkeypatch.setattr(plan, "runs_at_a_time", lambda *_: at_a_time)
    Path("runs").mkdir()
    with no_engine():
        words = ["kmers", "combine", *pieces, "--tmp-dir", "runs"]
        assert outputs_of(words, {"-o": "x.db"}, folder / "combined") == whole
        assert not list(Path("runs").iterdir())
        assert main([*words[:-1], "absent", "-o", "x.db", "-q"]) == 5
    assert "--tmp-dir absent: there is no such folder" in capsys.readouterr().err
    assert outputs_of([*words, "-d", str(device.index)], {"-o": "x.db"}, folder / "combined") == whole
    assert not list(Path("runs").iterdir())


def test_sums_stop_where_counters_end(tmp_path: Path) -> None:
    most = MAX_COUNTER
    sets = [
        set_of({"AAAAA": most, "AAAAC": 1, "AAAAG": most - 1, "AACCC": 2}, 5),
        set_of({"AAAAA": most, "AAAAC": most, "AAAAG": 1, "AACCC": 1}, 5),
        set_of({"AAAAC": most, "AAACC": 7}, 5),
    ]
    sums = {"AAAAA": most, "AAAAC": most, "AAAAG": most, "AAACC": 7, "AACCC": 3}
    for options in (CountOptions(5), CountOptions(5, max_count=most - 1), CountOptions(5, min_count=3, counter_max=5)):
        with Spill(None, options, tmp_path) as spill:
            blocks = list(kept_blocks(options, spill.sums(sets)))
        found = CountedKmers(5, True, *joined(blocks))
        kept = {kmer: total for kmer, total in sums.items() if options.min_count <= total <= options.max_count}
        assert {record["kmer"]: record["count"] for record in found.records()} == {
            kmer: min(total, options.counter_max) for kmer, total in kept.items()
        }


def joined(blocks: Sequence[KmerBlock]) -> tuple[Any, Any]:
    keys = np.concatenate([np.empty((1, 0), np.uint64), *(block.keys for block in blocks)], axis=1)
    return keys, np.concatenate([np.empty(0, np.uint32), *(block.counts for block in blocks)])


def test_letters_of_files_are_judged_as_a_whole(
    device: Device, folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    protein = ">p\nMKLVEELLKLLQELEEL\n"
    Path("few.fa").write_text(records(0, 10, fastq=False) + protein + records(10, 10, fastq=False))
    command = ["kmers", "count", "few.fa", "-k", "9", "-d", str(device.index)]
    check_combined(command, [], {"-o": "x.db"}, folder, [2, 23])
    Path("many.fa").write_text(records(0, 2, fastq=False) + protein * 30)
    command[2] = "many.fa"
    assert main([*command, "-o", "x.db", "-q"]) == 3
    expected = capsys.readouterr().err
    assert "many.fa: " in expected
    pieces = make_pieces(command, 3, folder)
    assert main(["kmers", "combine", *pieces, "-o", "x.db", "-q"]) == 3
    assert capsys.readouterr().err == expected
    assert not Path("x.db").exists()


def test_options_that_matter_are_compared(device: Device, folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert set(OTHER_OPTIONS) == {field.name for field in fields(CountOptions)}
    job = CountJob(("a.fq",), CountOptions(5))
    others = [replace(job, options=replace(job.options, **{name: value})) for name, value in OTHER_OPTIONS.items()]
    others += [replace(job, min_quality=0), replace(job, files=(), only=job.files)]
    for other in others:
        assert other.parameters() != job.parameters(), other
    assert replace(job, tmp_dir="runs").parameters() == job.parameters()
    first = ["kmers", "count", "a.fq", "-k", "5", "-d", str(device.index)]
    words = [
        ["kmers", "count", "c.fa", *first[3:]],
        ["kmers", "count", "a.fq", "c.fa", *first[3:]],
        *([*first, *more.split()] for more in (
            "-k 6", "--no-canonical", "--min-count 2", "--max-count 9", "--counter-max 3", "--compress-homopolymers",
            "--min-quality 3",
            "--only set.db", "--only c.fa",
        )),
    ]  # fmt: skip
    check_refusals("kmers", first, words, folder, capsys)
    check_refusals("kmers", [*first, "--only", "set.db"], [first, [*first, "--only", "set.fa"]], folder, capsys)


def test_workers_have_no_memory_of_this_process(device: Device, folder: Path) -> None:
    options = CountOptions(5)
    with ThreadPoolExecutor(1) as executor:
        with pytest.raises(ParameterError, match="only must be a file with executor"):
            count("a.fq", options, only=random_set(5, 9), executor=executor)
        with pytest.raises(ParameterError, match="engine must be the name of a device"):
            count_to_database("a.fq", options, "x.db", engine=device, executor=executor)
        with pytest.raises(InputError, match="standard input: pieces of a job all read the input; give a file"):
            count("-", options, engine=str(device.index), executor=executor)
        with pytest.raises(OutputError, match="there is no such folder"):
            count("a.fq", options, engine=str(device.index), tmp_dir="absent", executor=executor)
        with pytest.raises(InputError, match="is FASTA, which has no qualities"):
            count("c.fa", options, engine=str(device.index), min_quality=3, executor=executor)


def test_a_job_is_the_same_in_another_process() -> None:
    job = CountJob(("a.fq",), CountOptions(5, min_count=3), 7, ("set.fa", "b.fq.gz"), "runs")
    assert pickle.loads(pickle.dumps(job)) == job
    assert job.inputs() == ("a.fq", "set.fa", "b.fq.gz")


@pytest.fixture(scope="module")
def large_piece(device: Device, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A piece of several sections."""
    folder = tmp_path_factory.mktemp("large")
    (folder / "large.fa").write_bytes(random_text(np.random.default_rng(4), 150_000, b"ACGT", 150_000))
    words = ["kmers", "count", str(folder / "large.fa"), "-k", "31", "-d", str(device.index)]
    (path,) = make_pieces(words, 1, folder)
    return Path(path)


@pytest.fixture
def parts(large_piece: Path, folder: Path) -> tuple[PieceRecord, list[Any]]:
    """The record and the parts of the piece, which is a file of the working folder, too."""
    Path("1of1.piece").write_bytes(large_piece.read_bytes())
    piece = PieceFile("1of1.piece")
    return piece.record, list(piece.parts(CountJob.KINDS))


def test_a_piece_has_sections_and_an_end(parts: tuple[PieceRecord, list[Any]]) -> None:
    *sections, end = parts[1]
    assert isinstance(end, CountEnd)
    assert [type(some) for some in sections] == [EncodedKmers]
    assert sections[0].sections(31).table["kmers"].tolist() == [
        SECTION_KMERS,
        SECTION_KMERS,
        149_970 - 2 * SECTION_KMERS,
    ]
    assert end.summary.kmers == end.summary.distinct == 149_970
    assert {place: asdict(census) for place, census in end.censuses.items()} == {0: asdict(end.summary.census)}
    kmers = PieceKmers(PieceFile("1of1.piece"), CountOptions(31))
    assert (kmers.distinct, kmers.total) == (end.summary.distinct, end.summary.total)
    assert sum(map(len, kmers.blocks())) == kmers.distinct
    assert sum(int(block.counts.sum()) for block in kmers.blocks()) == kmers.total


def cut(parts: list[Any], sections: Sequence[int]) -> list[EncodedKmers]:
    """Some sections of a piece, each as a part of its own."""
    every = parts[0].sections(31)
    ends = np.cumsum(section_bytes(every.table)).tolist()
    cuts = [slice(begin, end) for begin, end in itertools.pairwise([0, *ends])]
    return [EncodedKmers.of(Sections(every.table[one : one + 1], every.data[cuts[one]])) for one in sections]


def told_otherwise(parts: list[Any], name: str, by: int) -> list[Any]:
    """The same with another number in the table of sections, whose last one has it, too, to be as long in all."""
    table = parts[0].sections(31).table.copy()
    table[name][0] -= by
    table[name][2] += by
    return [replace(parts[0], table=table.view(np.uint8)), *parts[1:]]


@pytest.mark.parametrize("also", [[], ["-d"]])
@pytest.mark.parametrize(
    ("spoil", "trouble"),
    [
        (lambda parts: [*cut(parts, [1, 0, 2]), parts[-1]], "k-mers have to come in ascending order"),
        (lambda parts: [*cut(parts, [0, 0, 1, 2]), parts[-1]], "k-mers have to come in ascending order"),
        (lambda parts: [parts[0], *parts], "k-mers have to come in ascending order"),
        (lambda parts: told_otherwise(parts, "kmers", 1), ""),
        (lambda parts: told_otherwise(parts, "gap_bytes", 8), ""),
        (lambda parts: told_otherwise(parts, "count_words", 1), ""),
        (lambda parts: [replace(parts[0], data=parts[0].data[:-8]), *parts[1:]], "the sections take other room"),
        (lambda parts: [replace(parts[0], table=parts[0].table[:-8]), *parts[1:]], "the table of sections has another"),
        (lambda parts: [replace(parts[0], table=parts[0].table[:0]), *parts[1:]], "a section has another size than"),
        (lambda parts: parts[:-1], "it does not end with what was found"),
        (lambda _: [], "it does not end with what was found"),
    ],
)
def test_kmers_that_no_piece_has(
    device: Device, parts: tuple[PieceRecord, list[Any]], spoil: Any, trouble: str, also: list[str],
    capsys: pytest.CaptureFixture[str],
) -> None:  # fmt: skip
    write_piece("bad.piece", parts[0], spoil(parts[1]))
    words = ["kmers", "combine", "bad.piece", "-o", "x.db", "-q", *also, *([str(device.index)] if also else [])]
    assert main(words) == 3
    err = capsys.readouterr().err
    assert "bad.piece: its k-mers are malformed: " in err
    assert trouble in err
    assert "make it again" in err
    assert not Path("x.db").exists()


def test_damage_is_found_wherever_it_is(
    device: Device, folder: Path, parts: tuple[PieceRecord, list[Any]], capsys: pytest.CaptureFixture[str]
) -> None:
    whole = Path("1of1.piece").read_bytes()
    rng = np.random.default_rng(6)
    for place in [*rng.integers(0, len(whole), 12).tolist(), len(whole) - 1]:
        Path("bad.piece").write_bytes(whole[:place] + bytes([whole[place] ^ 4]) + whole[place + 1 :])
        assert main(["kmers", "combine", "bad.piece", "-o", "x.db", "-q"]) == 3, place
        assert "oclgenomics: error: bad.piece" in capsys.readouterr().err
    for size in [0, 20, len(whole) // 2, len(whole) - 1]:
        Path("bad.piece").write_bytes(whole[:size])
        assert main(["kmers", "combine", "bad.piece", "-o", "x.db", "-q"]) == 3, size
    assert not Path("x.db").exists()


def test_progress(device: Device, folder: Path) -> None:
    steps: list[tuple[int, int | None]] = []
    with ThreadPoolExecutor(1) as executor:
        run = Run(progress=lambda done, total: steps.append((done, total)))
        spread = Spread(executor, 4, folder)
        count("a.fq", CountOptions(31), engine=str(device.index), run=run, executor=spread)
    size = Path("a.fq").stat().st_size
    assert steps
    assert {total for _, total in steps} == {size}
    assert [done for done, _ in steps] == sorted(done for done, _ in steps)
    assert 0 <= steps[0][0] <= steps[-1][0] <= size
