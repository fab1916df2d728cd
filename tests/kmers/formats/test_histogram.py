"""Histograms for other programs: what each number of the formats has to be."""

from __future__ import annotations

import struct
from pathlib import Path

import numpy as np
import pytest
from helpers.kmer_sets import set_of, write_database
from hypothesis import given, strategies as st

from oclgenomics.cli.main import main
from oclgenomics.kmers.formats.histogram import FASTK_LAST, fastk_histogram, genomescope_table
from oclgenomics.kmers.result import Histogram

COUNTS = st.dictionaries(st.sampled_from([1, 2, 3, 7, 8, 9, 32_766, 32_767, 40_000, 1 << 31]), st.integers(1, 99))


def histogram_of(counts: dict[int, int]) -> Histogram:
    ascending = sorted(counts)
    return Histogram(np.array(ascending, np.int64), np.array([counts[count] for count in ascending], np.int64))


@given(COUNTS, st.integers(2, 12))
def test_every_row_of_genomescope(counts: dict[int, int], last: int) -> None:
    rows = [tuple(map(int, line.split(" "))) for line in genomescope_table(histogram_of(counts), last).splitlines()]
    assert [count for count, _ in rows] == list(range(1, len(rows) + 1))
    end = len(rows)
    assert end == min(max(counts, default=0) + 1, last)
    assert [kmers for _, kmers in rows[:-1]] == [counts.get(count, 0) for count in range(1, end)]
    above = sum(count * kmers for count, kmers in counts.items() if count >= end)
    assert rows[-1][1] == round(above / end)


@given(COUNTS, st.integers(1, 256))
def test_every_number_of_fastk(counts: dict[int, int], k: int) -> None:
    data = fastk_histogram(histogram_of(counts), k)
    assert len(data) == 262_164  # as FastK's documentation says
    length, first, last, lowest, highest = struct.unpack_from("<iiiqq", data)
    assert (length, first, last, lowest) == (k, 1, 32_767, counts.get(1, 0))
    assert highest == sum(count * kmers for count, kmers in counts.items() if count >= last)
    kmers = np.frombuffer(data, "<i8", offset=28)
    assert len(kmers) == FASTK_LAST
    assert kmers[:-1].tolist() == [counts.get(count, 0) for count in range(1, last)]
    assert kmers[-1] == sum(kmers for count, kmers in counts.items() if count >= last)


def test_commands(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    database = str(write_database(tmp_path / "x.db", set_of({"AAAAC": 1, "ACGTA": 3, "CCCCA": 3}, 5)))
    assert main(["kmers", "histogram", database, "--format", "genomescope", "-q"]) == 0
    assert capsys.readouterr().out == "1 1\n2 0\n3 2\n4 0\n"
    assert main(["kmers", "histogram", database, "--format", "fastk", "-q", "-o", str(tmp_path / "x.hist")]) == 0
    assert (tmp_path / "x.hist").read_bytes()[:16] == struct.pack("<iiii", 5, 1, 32_767, 1)
    assert main(["kmers", "histogram", database, "--format", "fastk", "-q", "-o", str(tmp_path / "x.hist.gz")]) == 2
    assert "only text is packed" in capsys.readouterr().err
