"""The ms and MaCS readers against the characters that were written."""

from __future__ import annotations

import gzip

import numpy as np
import pytest
from hypothesis import given, settings, strategies as st

from oclgenomics.errors import InputError
from oclgenomics.io.numbers import parse_decimals
from oclgenomics.notices import of_command
from oclgenomics.variation import Alignment, ReadOptions, characters, read_alignments
from oclgenomics.variation.readers import ms
from oclgenomics.variation.readers.input_buffer import InputBuffer


@st.composite
def replicates(draw: st.DrawFn, letters: st.SearchStrategy[str]) -> tuple[list[float], list[str]]:
    """Positions and haplotype rows."""
    sites = draw(st.sampled_from([1, 2, 3, 8, 9, 40]))
    count = draw(st.sampled_from([1, 2, 7, 8, 9, 16, 31, 32, 33, 70]))
    alphabet = draw(letters)
    rows = [draw(st.text(alphabet, min_size=sites, max_size=sites)) for _ in range(count)]
    return sorted(draw(st.lists(st.floats(0, 1), min_size=sites, max_size=sites))), rows


ENDS = st.sampled_from(["\n", "\r\n"])
LETTERS = st.sampled_from(["01", "01-", "01N", "01-N", "0"])


def slow_base_pairs(texts: list[str], length: float) -> list[int]:
    return [int(np.float32(float(text)) * np.float32(length)) for text in texts]


def rows_of(alignment: Alignment) -> list[str]:
    return [bytes(row).decode() for row in characters(alignment).T]


def check(alignment: Alignment, texts: list[str], rows: list[str], length: float) -> None:
    assert alignment.positions.tolist() == slow_base_pairs(texts, length)
    assert alignment.haplotypes == len(rows)
    assert rows_of(alignment) == rows
    assert alignment.alphabet == "binary"
    assert (alignment.valid is not None) == any(set("-N") & set(row) for row in rows)
    assert (alignment.gap is not None) == any("-" in row for row in rows)
    if alignment.valid is not None:
        assert not (alignment.bits & ~alignment.valid).any()
        assert int(np.bitwise_count(alignment.valid).sum()) == sum(row.count("0") + row.count("1") for row in rows)


@settings(max_examples=80, deadline=None)
@given(
    found=st.lists(replicates(LETTERS), min_size=1, max_size=3), digits=st.sampled_from([2, 5, 12]), end=ENDS,
    block=st.sampled_from([1, 30, 333, 1 << 22]), packed=st.booleans(), last=st.booleans(), empty=st.booleans(),
)  # fmt: skip
def test_ms_as_written(tmp_path_factory, found, digits, end, block, packed, last, empty):
    lines = [f"ms {len(found[-1][1])} 2 -t 5", "1 2 3", ""]
    texts = [[f"{position:.{digits}f}" for position in positions] for positions, _ in found]
    for words, (_, rows) in zip(texts, found, strict=True):
        lines += ["//", f"segsites: {len(words)}", "positions: " + " ".join(words) + " ", *rows, ""]
    if empty:
        lines += ["//", "segsites: 0", ""]
    text = end.join(lines).rstrip() + (end if last else "")
    path = tmp_path_factory.mktemp("ms") / "x.ms"
    path.write_bytes(gzip.compress(text.encode()) if packed else text.encode())
    alignments = list(read_alignments(path, ReadOptions(length=123456), block_bytes=block))
    assert len(alignments) == len(found) + empty
    for i, (words, (_, rows)) in enumerate(zip(texts, found, strict=True)):
        check(alignments[i], words, rows, 123456)
        assert (alignments[i].name, alignments[i].replicate) == (str(i + 1), i + 1)
    if empty:
        assert (alignments[-1].sites, alignments[-1].haplotypes) == (0, 0)


@settings(max_examples=60, deadline=None)
@given(
    found=st.lists(replicates(LETTERS), min_size=1, max_size=2), times=st.booleans(), end=ENDS,
    block=st.sampled_from([1, 30, 333, 1 << 22]), last=st.booleans(),
)  # fmt: skip
def test_macs_as_written(tmp_path_factory, found, times, end, block, last):
    lines = []
    for positions, rows in found:
        lines += ["COMMAND:\tmacs 4 100", "SEED:\t1"]
        for i, position in enumerate(positions):
            time = ["0.25"] if times else []
            lines.append("\t".join(["SITE:", str(i), f"{position:.9f}", *time, "".join(row[i] for row in rows)]))
        lines += [f"TOTAL_SITES:\t{len(positions)}"]
    path = tmp_path_factory.mktemp("macs") / "x.txt"
    path.write_bytes((end.join(lines) + (end if last else "")).encode())
    alignments = list(read_alignments(path, ReadOptions(length=1e6), block_bytes=block))
    assert len(alignments) == len(found)
    for alignment, (positions, rows) in zip(alignments, found, strict=True):
        check(alignment, [f"{position:.9f}" for position in positions], rows, 1e6)


@pytest.mark.parametrize("last", ["BEGIN_SELECTED_SITES\n0\t1\nEND_SELECTED_SITES\n", ""])
def test_totals_end_an_alignment_of_macs(tmp_path, capsys, last):
    """A command makes several, numbered from 0 each; ascertainment selects one of two sites."""
    sites = MACS.removeprefix("COMMAND:\tx\n")
    path = tmp_path / "x"
    path.write_text("COMMAND:\tx\nSEED:\t1\n" + 3 * (sites + "TOTAL_SAMPLES:\t4\nTOTAL_SITES:\t1\n" + last))
    for block in (*range(4, 200, 12), 1 << 22):
        found = list(read_alignments(path, ReadOptions(length=100), block_bytes=block))
        assert [(x.replicate, x.sites) for x in found] == [(1, 2), (2, 2), (3, 2)]
    assert capsys.readouterr().err == ""


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("{MACS}", "no TOTAL_SITES line, with which MaCS ends; the input may be cut off after 2 sites"),
        ("ms 2 3\n{MS}{MS}", "2 replicates where the first line says 3; the input may be cut off between two of them"),
    ],
)
def test_a_cut_between_two_lines_is_told(tmp_path, capsys, text, message):
    path = tmp_path / "x"
    path.write_text(text.format(MACS=MACS, MS=MS[MS.index("//") :]))
    with of_command():
        assert list(read_alignments(path, ReadOptions(length=100)))
    assert capsys.readouterr().err == f"oclgenomics: warning: {path}: {message}\n"


@given(st.lists(st.integers(0, 10**9), min_size=1, max_size=40), st.integers(1, 15), st.booleans())
def test_decimals_are_rounded_as_strtod_rounds(numbers, digits, scientific):
    words = [f"{number / 1e9:.{digits}{'e' if scientific else 'f'}}" for number in numbers]
    assert parse_decimals(" ".join(words).encode()).tolist() == [float(word) for word in words]


MS = "ms 2 1\n1 2 3\n\n//\nsegsites: 3\npositions: 0.1 0.2 0.3\n010\n111\n"
MACS = "COMMAND:\tx\nSITE:\t0\t0.1\t0.5\t0101\nSITE:\t1\t0.2\t0.5\t0111\n"


@pytest.mark.parametrize(
    ("text", "message"),
    [
        (MS + "01\n", "line 9.*a row of 2 characters for 3"),
        (MS + "0101\n", "line 9.*a row of 4 characters for 3"),
        (MS + "0x1\n", "line 9.*'x' in a haplotype row"),
        (MS + "010\n" * 20 + "01\n", "line 29.*a row of 2"),
        (MS + "010\n" * 20 + "0\x001\n", "line 29.*in a haplotype row"),
        (MS.replace("0.3", "0.3 0.4"), "line 6.*4 positions for 3"),
        (MS.replace("0.3", ""), "line 6.*2 positions for 3"),
        (MS.replace("0.3", "0.15"), "line 6.*go back at site 3"),
        (MS.replace("0.3", "nan"), "line 6.*between 0 and 1"),
        (MS.replace("0.3", "3.1"), "line 6.*between 0 and 1"),
        (MS.replace("0.3", "x.3"), "line 6.*not all numbers"),
        (MS.replace("3\n", "x\n", 2), "line 5.*not followed by a number"),
        (MS[: MS.index("positions")], "without a 'positions:' line"),
        (MS[: MS.index("segsites")], "without a 'segsites:' line"),
        (MS[: MS.index("010")], "no haplotype rows"),
        (MACS + "SITE:\t2\t0.1\t0.5\t0101\n", "line 4.*goes back"),
        (MACS + "SITE:\t2\t0.3\t0.5\t01\n", "line 4.*2 haplotypes; the first site has 4"),
        (MACS + "SITE:\t2\t0.3\t0.5\t01010\n", "line 4.*5 haplotypes; the first site has 4"),
        (MACS + "SITE:\t2\t0.3\t0.5\t01x1\n", "line 4.*'x' among the haplotypes"),
        (MACS + "SITE:\t2\t7\t0.5\t0101\n", "line 4.*not a site"),
        (MACS + "SITE:\t2\tx\t0.5\t0101\n", "line 4.*not a site"),
        (MACS + "SITE:\t2\t0.2_5\t0.5\t0101\n", "line 4.*not a site"),
        (MACS + "SITE:\t2\t0.5\t0.5\t0101\nSITE:\t3\t0.25\t0.5\t0101\n", "line 5.*goes back"),
        (MACS + "SITE:\t2\t0101\n", "line 4.*not a site"),
        ("COMMAND:\tx\n", "no 'SITE:' line"),
        (MACS + "TOTAL_SAMPLES:\t4\nTOTAL_SITES:\t3\n", "alignment 1 has 2 'SITE:' lines where TOTAL_SITES says 3"),
        (MACS + "TOTAL_SITES:\t2\n" + MACS, "cut off: alignment 2, the last, has no TOTAL_SITES line"),
    ],
)
def test_bad_input_names_the_line(tmp_path, text, message):
    path = tmp_path / "x"
    path.write_text(text)
    for block in (4, 1 << 22):
        with pytest.raises(InputError, match=message) as caught:
            list(read_alignments(path, ReadOptions(length=100), block_bytes=block))
        assert "\n" not in str(caught.value)


@pytest.mark.parametrize("text", [MS, MACS])
def test_relative_positions_need_a_length(tmp_path, text):
    path = tmp_path / "x"
    path.write_text(text)
    with pytest.raises(InputError, match=r"give the length of the region in bp [(]length[)]"):
        list(read_alignments(path))


@pytest.mark.parametrize("last", ["", "\r\n", "\n"])
def test_returns_at_the_edge_of_what_was_read(tmp_path, last):
    """Wherever a chunk ends: before a row's return, after it, or with the input behind a row that lacks both."""
    rng = np.random.default_rng(8)
    for count in (8, 9, 17):
        rows = ["".join(rng.choice(list("01"), 5)) for _ in range(count)]
        head = ["//", "segsites: 5", "positions: 0.1 0.2 0.3 0.4 0.5"]
        path = tmp_path / "x"
        path.write_bytes(("\r\n".join([*head, *rows]) + last).encode())
        for block in range(4, 4 * len("\r\n".join([*head, rows[0]])), 4):  # a chunk is a quarter of it
            (alignment,) = read_alignments(path, ReadOptions(length=1000), block_bytes=block)
            assert rows_of(alignment) == rows


@pytest.mark.parametrize("seen", [0, 4, 5, 6])
def test_a_return_that_comes_with_the_next_chunk_slows_nothing(monkeypatch, seen):
    """Rows are taken eight at a time although nothing behind the first one's characters is there yet."""
    head, rows = b"//\r\nsegsites: 5\r\npositions: 0.1 0.2 0.3 0.4 0.5\r\n", b"01010\r\n" * 16
    single, calls = ms._RowReader._read_single, []
    monkeypatch.setattr(ms._RowReader, "_read_single", lambda reader: calls.append(1) or single(reader))
    (alignment,) = ms.read_ms(InputBuffer([head + rows[:seen], rows[seen:]], "x"), length=1000)
    assert rows_of(alignment) == ["01010"] * 16
    assert len(calls) == 1  # which finds the end


@pytest.mark.parametrize("block", [4, 1 << 22])
def test_a_row_with_a_character_in_place_of_its_return(tmp_path, block):
    rows = ["01010\r\n"] * 8 + ["010100\n"] * 8
    path = tmp_path / "x"
    path.write_bytes(("//\r\nsegsites: 5\r\npositions: 0.1 0.2 0.3 0.4 0.5\r\n" + "".join(rows)).encode())
    with pytest.raises(InputError, match=r"line 12.*a row of 6 characters for 5"):
        list(read_alignments(path, ReadOptions(length=1000), block_bytes=block))


def test_what_follows_the_rows_does_not_make_them_incomplete(tmp_path):
    path = tmp_path / "x.ms"
    path.write_text("//\nsegsites: 3\npositions: 0.1 0.2 0.3\n" + "010\n" * 31 + "\n//\nsegsites: 0\n")
    first, _ = read_alignments(path, ReadOptions(length=10))
    assert (first.haplotypes, first.valid) == (31, None)


@pytest.mark.parametrize("late", ["N", "-", "-N"])
@pytest.mark.parametrize("clean", [8, 16, 19])
def test_states_that_are_missing_only_in_late_rows(tmp_path, clean, late):
    """All is observed in the rows that are taken first, which are as many as 128 KiB hold."""
    sites = ms._FIRST_LOOK // 8
    early = "01" * (sites // 2)
    rows = [early] * clean + [early[: -2 * len(late)] + late + "1" * len(late), early]
    texts = ["0.5"] * sites
    path = tmp_path / "x.ms"
    path.write_text("\n".join(["//", f"segsites: {sites}", "positions: " + " ".join(texts), *rows, ""]))
    (alignment,) = read_alignments(path, ReadOptions(length=1000))
    check(alignment, texts, rows, 1000)


def test_macs_positions_that_go_back_where_blocks_meet(tmp_path):
    """The first of a block is behind the first of the block before, but not behind its last."""
    lines = [f"SITE:\t{number}\t{position}\t0101\n" for number, position in enumerate((0.1, 0.2, 0.4, 0.3, 0.5))]
    path = tmp_path / "x"
    path.write_text("COMMAND:\tx\n" + "".join(lines))
    for block in range(4, 400, 9):
        with pytest.raises(InputError, match=r"line 5.*goes back"):
            list(read_alignments(path, ReadOptions(length=100), block_bytes=block))


def test_trees_and_probabilities_before_the_sites_are_passed_over(tmp_path):
    path = tmp_path / "x.ms"
    path.write_text(MS.replace("segsites", "[3](1:0.1,2:0.1);\nprob: 0.5\nsegsites"))
    (alignment,) = read_alignments(path, ReadOptions(length=10))
    assert rows_of(alignment) == ["010", "111"]


def test_mbs_positions_are_bp_and_the_selected_site_has_no_column(tmp_path):
    path = tmp_path / "x.mbs"
    path.write_text("command: mbs 3 ...\n\n//0-1 allele: 0 1 1\nsegsites: 4\npositions: 7 90 1200\n010\n111\n100\n")
    found = next(read_alignments(path, ReadOptions(format="mbs")))
    assert found.positions.tolist() == [7, 90, 1200]
    assert rows_of(found) == ["010", "111", "100"]


@pytest.mark.parametrize(
    ("positions", "message"),
    [("7 90.5 100", "whole numbers of bp"), ("7 90", "2 positions for 4"), ("9 7 100", "go back")],
)
def test_bad_mbs_positions_name_the_line(tmp_path, positions, message):
    path = tmp_path / "x.mbs"
    path.write_text(f"//\nsegsites: 4\npositions: {positions}\n010\n")
    with pytest.raises(InputError, match=f"line 3.*{message}"):
        next(read_alignments(path, ReadOptions(format="mbs")))


@pytest.mark.parametrize(
    ("head", "replicates", "message"),
    [
        ("ms 4 1", [3], "replicate 1, the last, has 3 haplotype rows where the first line says 4"),
        ("./ms 4 2 -t 5", [4, 2], "replicate 2, the last, has 2 haplotype rows where the replicates before have 4"),
        ("slim", [4, 4, 1], "replicate 3, the last, has 1 haplotype rows where the replicates before have 4"),
        ("ms 4 2", [4, 4], None),
        ("ms 4 2", [3, 4, 2], None),  # the first line is of another file
        ("slim", [5], None),
    ],
)
def test_an_input_that_ends_after_some_rows_of_the_last_replicate(tmp_path, head, replicates, message):
    path = tmp_path / "x.ms"
    body = ["//\nsegsites: 2\npositions: 0.1 0.2\n" + "01\n" * rows for rows in replicates]
    path.write_text(head + "\n\n" + "\n".join(body))
    found = read_alignments(path, ReadOptions(length=1000))
    if message is None:
        assert [one.haplotypes for one in found] == replicates
        return
    with pytest.raises(InputError, match=f"cut off: {message}"):
        list(found)
