"""The FASTA reader against the columns that were written."""

from __future__ import annotations

import gzip
import io

import pytest
from hypothesis import given, settings, strategies as st

from oclgenomics.errors import InputError
from oclgenomics.variation import characters, read_alignments


@st.composite
def sequences(draw: st.DrawFn) -> list[str]:
    """Sequences of equal length."""
    length = draw(st.integers(1, 70))
    alphabet = draw(st.sampled_from(["AC", "acgt", "ACGTN-", "ACGTacgtRYSWKMBDHVNX.-?"]))
    count = draw(st.sampled_from([1, 2, 7, 8, 9, 33]))
    return [draw(st.text(alphabet, min_size=length, max_size=length)) for _ in range(count)]


def slow_letter(character: str) -> str:
    return character.upper() if character.upper() in "ACGT-" else "N"


@settings(max_examples=80, deadline=None)
@given(
    rows=sequences(), width=st.sampled_from([7, 60, 1000]), end=st.sampled_from(["\n", "\r\n"]),
    block=st.sampled_from([1, 50, 1 << 22]), packed=st.booleans(), last=st.booleans(),
)  # fmt: skip
def test_as_written(tmp_path_factory, rows, width, end, block, packed, last):
    lines = []
    for i, row in enumerate(rows):
        lines += [f">s{i} some text", *(row[at : at + width] for at in range(0, len(row), width))]
    text = end.join(lines) + (end if last else "")
    path = tmp_path_factory.mktemp("fasta") / "x.fa"
    path.write_bytes(gzip.compress(text.encode()) if packed else text.encode())
    (alignment,) = read_alignments(path, block_bytes=block)
    columns = ["".join(map(slow_letter, column)) for column in zip(*rows, strict=True)]
    kept = [i for i, column in enumerate(columns) if len(set(column) & set("ACGT")) > 1]
    assert alignment.positions.tolist() == [i + 1 for i in kept]
    assert [bytes(site).decode() for site in characters(alignment)] == [columns[i] for i in kept]
    assert alignment.samples == tuple(f"s{i}" for i in range(len(rows)))
    assert sum(alignment.skipped.values()) == len(columns) - len(kept)
    assert (alignment.ploidy, alignment.alphabet, alignment.haplotypes) == (1, "dna", len(rows))
    missing = {character for i in kept for character in columns[i]} & set("N-")
    assert (alignment.valid is not None) == bool(missing)
    assert (alignment.gap is not None) == ("-" in missing)


def test_from_a_pipe(monkeypatch):
    class Pipe:
        buffer = io.BytesIO(b">a\nACGT\n>b\nATGA\n")

    monkeypatch.setattr("sys.stdin", Pipe())
    (alignment,) = read_alignments("-", block_bytes=8)
    assert [bytes(site) for site in characters(alignment)] == [b"CT", b"TA"]


@pytest.mark.parametrize(
    ("text", "message"),
    [
        (">a\nACGT\n>b\nACG\n", r"line 4.*sequence 2 \(b\) has 3 columns, the first 4"),
        (">a\nACGT\n>b\nAC\nG!\n", "line 5.*'!' in a sequence"),
        (">a\n>b\n", "has 0 columns"),
    ],
)
def test_bad_input_names_the_line(tmp_path, text, message):
    path = tmp_path / "x.fa"
    path.write_text(text)
    for block in (4, 1 << 22):
        with pytest.raises(InputError, match=message):
            list(read_alignments(path, block_bytes=block))
