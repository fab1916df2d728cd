"""Filtered reads are those in which the oracle finds a match, cut where its best match lies."""

from __future__ import annotations

import functools
from dataclasses import replace
from pathlib import Path
from typing import Any
from unittest import mock

import pytest
from helpers.products import examples
from helpers.signature_parts import Read, scan_parts
from hypothesis import given, settings, strategies as st

from oclgenomics.errors import InputError
from oclgenomics.runtime import Engine
from oclgenomics.sequence.letters import letter_blocks
from oclgenomics.signatures import FilterOptions, FilterSummary, Panel, ScanOptions, filter_reads, reference
from oclgenomics.signatures.options import OVERHANGS_AT, PAIR_RULES, TRIMS

SIGNATURES = [("p", "GATTACA"), ("q", "CNGT"), ("r", "TTAGG")]
LETTERS = st.lists(
    st.one_of(st.text("ACGTNa", max_size=9), st.sampled_from([text for _, text in SIGNATURES] + ["GATACA", "TGTAATC"])),
    max_size=6,
).map("".join)
ENDS = ("\n", "\r\n")


def record(read: Read, width: int, end: str) -> str:
    if read.qualities is not None:
        return end.join([f"@{read.name} more", read.letters, "+", read.qualities, ""])
    lines = [read.letters[at : at + width] for at in range(0, len(read.letters), width)]
    return end.join([f">{read.name} more", *(lines or [""]), ""])


def cut(
    read: Read, width: int, end: str, found: tuple[int, int, int, int] | None, options: FilterOptions
) -> tuple[str, int]:
    """A record as it is kept, and how many of its bases are."""
    if found is None or not (options.trim or options.label):
        return record(read, width, end), len(read.letters)
    some = {None: slice(None), "before": slice(found[1], None), "after": slice(0, found[0])}[options.trim]
    kept = Read(read.name, read.letters[some], read.qualities and read.qualities[some])
    width = min(width, len(read.letters))  # that of the first line
    text = record(kept, width, end if read.qualities is not None else "\n")
    label = f" more signature={SIGNATURES[found[2]][0]}" if options.label else " more"
    label += f" ties={found[3]}" if options.label and found[3] else ""
    return text.replace(" more", label, 1), len(kept.letters)


@settings(deadline=None, max_examples=examples(40))
@given(data=st.data())
def test_reads_that_match_are_kept_and_cut(
    engine: Engine, data: st.DataObject, tmp_path_factory: pytest.TempPathFactory
) -> None:
    folder = tmp_path_factory.mktemp("filter")
    edits = data.draw(st.sampled_from([0, 1]), "edits")
    overhang = data.draw(st.sampled_from([0, 0, 3]), "overhang")
    scan = ScanOptions(
        strand=data.draw(st.sampled_from(["+", "both"]), "strand"), max_edits=edits, overhang=overhang,
        overhang_at=data.draw(st.sampled_from([None, *OVERHANGS_AT] if overhang else [None]), "at"),
    )  # fmt: skip
    drop = data.draw(st.booleans(), "drop")
    trim = None if drop else data.draw(st.sampled_from([None, *TRIMS]), "trim")
    label = data.draw(st.booleans(), "label")
    options = FilterOptions(scan, data.draw(st.sampled_from(PAIR_RULES), "pairs"), drop, trim, label)
    fastq, end = data.draw(st.booleans(), "FASTQ"), data.draw(st.sampled_from(ENDS), "end")
    width, mates = data.draw(st.sampled_from([5, 80]), "width"), data.draw(st.sampled_from([1, 2, 0]), "mates")
    texts = data.draw(st.lists(st.tuples(*[LETTERS] * (2 if mates != 1 else 1)), max_size=5), "reads")
    reads = [
        [Read(f"r{i}/{m + 1}", text, "".join(chr(40 + j % 50) for j in range(len(text))) if fastq else None)
         for i, text in enumerate(column)]
        for m, column in enumerate(zip(*texts, strict=True))
    ]  # fmt: skip
    reads = reads or [[]] * (2 if mates != 1 else 1)
    paths = [folder / f"{m}.txt" for m in range(len(reads))]
    whole = [[record(read, width, end) for read in column] for column in reads]
    if mates == 0:  # interleaved
        paths = [folder / "both.txt"]
        paths[0].write_bytes("".join(one + two for one, two in zip(*whole, strict=True)).encode())
    else:
        for path, column in zip(paths, whole, strict=True):
            path.write_bytes("".join(column).encode())
    small = data.draw(st.sampled_from([None, 100, 37]), "block")
    kept, rest = folder / "kept.txt", folder / "rest.txt"
    where: dict[str, Any] = {"rest": rest, "engine": engine, "interleaved": mates == 0}
    singles, pairs = ([], [tuple(paths)]) if mates == 2 else (paths, [])
    sized = letter_blocks if small is None else functools.partial(letter_blocks, block_bytes=small)
    with (
        mock.patch("oclgenomics.signatures.jobs.letter_blocks", sized),
        mock.patch("oclgenomics.signatures.api.largest_block", return_value=2 * (small or 1 << 20)),
    ):
        summary = filter_reads(singles, Panel.from_signatures(SIGNATURES), kept, options, paired=pairs, **where)
    if overhang and trim is not None and scan.overhang_at is None:
        scan = replace(scan, overhang_at={"before": "start", "after": "end"}[trim])
    places = [best_places(column, scan) for column in reads]
    expected = expected_texts(reads, whole, places, options, width, end)
    assert (kept.read_bytes().decode(), rest.read_bytes().decode()) == expected[:2]
    assert summary == expected[2]


def best_places(reads: list[Read], scan: ScanOptions) -> list[tuple[int, int, int, int] | None]:
    """Start, end and signature of the best match of each read, and how many others match as well."""
    options = replace(scan, report="read")
    found: list[tuple[int, int, int, int] | None] = [None] * len(reads)
    for part in scan_parts(reads, SIGNATURES, options, max(1, len(reads)))[1]:
        rows, rivals = part.matches, part.rivals
        assert rivals is not None
        columns = (rows.start, rows.end, rows.signature, rivals.ties)
        for number, *place in zip(rows.sample.tolist(), *(column.tolist() for column in columns), strict=True):
            found[number] = (place[0], place[1], place[2], place[3])
    return found


def expected_texts(
    reads: list[list[Read]], whole: list[list[str]], places: list[list[tuple[int, int, int, int] | None]],
    options: FilterOptions, width: int, end: str,
) -> tuple[str, str, FilterSummary]:  # fmt: skip
    kept, rest, kept_bases, empty, count = [], [], 0, 0, 0
    for number in range(len(reads[0])):
        matching = [column[number] is not None for column in places]
        passes = (any if options.pairs == "either" else all)(matching) != options.drop
        for column, texts, found in zip(reads, whole, places, strict=True):
            place = found[number]
            text, bases = cut(column[number], width, end, place, options)
            (kept if passes else rest).append(text if passes else texts[number])
            kept_bases += bases * passes
            empty += passes and bases == 0 and len(column[number].letters) > 0
            count += passes
    every = [place for column in places for place in column if place is not None]
    names = {name: sum(place[2] == i for place in every) for i, (name, _) in enumerate(SIGNATURES)}
    total = sum(len(read.letters) for column in reads for read in column)
    return "".join(kept), "".join(rest), FilterSummary(
        sum(map(len, reads)), count, len(reads[0]) * (len(reads) == 2), len(every),
        sum(place[3] > 0 for place in every), total, kept_bases, empty,
        {name: number for name, number in names.items() if number},
    )  # fmt: skip


def test_long_records_go_through_blocks(engine: Engine, tmp_path: Path) -> None:
    texts = ["C" * 300 + "GATTACA" + "C" * 200, "C" * 250, "GATTACA", "C" * 200 + "GATTACA"]
    path, kept, rest = (tmp_path / name for name in ("x.fa", "kept.fa", "rest.fa"))
    records = [record(Read(f"r{number}", text), 60, "\n") for number, text in enumerate(texts)]
    path.write_text("".join(records).removesuffix("\n"))
    options = FilterOptions(ScanOptions(max_edits=1), trim="before")
    with mock.patch("oclgenomics.signatures.jobs.letter_blocks", functools.partial(letter_blocks, block_bytes=64)):
        summary = filter_reads(path, Panel.from_signatures(SIGNATURES[:1]), kept, options, rest=rest, engine=engine)
    trimmed = [Read("r0", "C" * 200), Read("r2", ""), Read("r3", "")]
    widths = (60, 7, 60)
    assert kept.read_text() == "".join(record(read, width, "\n") for read, width in zip(trimmed, widths, strict=True))
    assert rest.read_text() == records[1]
    assert (summary.reads, summary.kept, summary.empty, summary.signatures) == (4, 3, 2, {"p": 3})
    assert summary.records()[0]["kept"] == 3
    assert list(summary.to_frame()["reads"]) == [3]


def test_two_files_of_mates_do_not_disturb_each_other(engine: Engine, tmp_path: Path) -> None:
    # The first file is left, for the second one, within a record that has an open place.
    for name, at in (("1.fa", 10), ("2.fa", 17)):
        (tmp_path / name).write_text(f">x\nCC\n>y\n{'C' * at}{'N' * 90}{'C' * 400}\n")
    options = FilterOptions(ScanOptions(max_edits=1), trim="after")
    with mock.patch("oclgenomics.signatures.api.largest_block", return_value=2 * 64):
        filter_reads(
            [], Panel.from_signatures([("p", "GATTACA")]), tmp_path / "out#.fa", options,
            paired=[(tmp_path / "1.fa", tmp_path / "2.fa")], engine=engine,
        )  # fmt: skip
    kept = [(tmp_path / f"out_{mate}.fa").read_text() for mate in (1, 2)]
    places = [reference.places("C" * at + "N" * 90 + "C" * 400, None, "GATTACA", max_edits=1) for at in (10, 17)]
    assert kept == [
        f">y\n{'C' * at}{'N' * (found[0].start - at)}\n" for at, found in zip((10, 17), places, strict=True)
    ]


def test_inputs_that_do_not_go_together(engine: Engine, tmp_path: Path) -> None:
    one, other = tmp_path / "1.fq", tmp_path / "2.fa"
    one.write_text("@x\nACGT\n+\nIIII\n@y\nACGT\n+\nIIII\n")
    other.write_text(">x\nACGT\n")
    panel, out = Panel.from_signatures([("p", "CG")]), tmp_path / "out"
    for reads, pairs, message in (
        ([one, other], [], "is FASTA, but .* is FASTQ; filter them apart"),
        ([], [(one, other)], "is FASTA, but .* is FASTQ"),
    ):
        with pytest.raises(InputError, match=message):
            filter_reads(reads, panel, out, paired=pairs, engine=engine)
    with pytest.raises(InputError, match="the mates of a pair have different names, 'x' and 'y'"):
        filter_reads(one, panel, out, interleaved=True, engine=engine)
    assert not out.exists()
