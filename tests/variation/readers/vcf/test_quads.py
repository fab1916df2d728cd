"""Calls of three characters are packed as words, also where some are missing."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from helpers.vcf_files import COLUMNS, HEAD

from oclgenomics.variation import read_alignments
from oclgenomics.variation.packing import unpack_sites
from oclgenomics.variation.readers.vcf import genotypes
from oclgenomics.variation.readers.vcf.quads import TEMPLATE, read_quads

SAMPLES = 16


def words_of(*rows: str) -> np.ndarray:
    """Return the words of sites, each the calls of its samples with tabs behind them."""
    text = "".join(call + "\t" for row in rows for call in row.split()).encode()
    return np.frombuffer(text, np.uint32).reshape(len(rows), SAMPLES) ^ TEMPLATE


def row(*calls: str) -> str:
    return " ".join(calls + ("0|0",) * (SAMPLES - len(calls)))


@pytest.mark.parametrize("others", [(), (row("0|1"),)], ids=["alone", "with complete sites"])
def test_missing_calls_are_packed(others: tuple[str, ...]) -> None:
    words = words_of(row("1|0", ".|.", "0|.", "1|1"), *others)
    packed, left = read_quads(words, np.arange(len(words)), np.ones(len(words), bool), SAMPLES, "auto")
    assert left.size == 0
    (found,) = (one for one in packed if 0 in one.sites)
    assert found.valid is not None
    alleles, valid = (np.unpackbits(part[0].view(np.uint8), bitorder="little") for part in (found.bits, found.valid))
    assert valid[:8].tolist() == [1, 1, 0, 0, 1, 0, 1, 1]
    assert (alleles & valid)[:8].tolist() == [1, 0, 0, 0, 0, 0, 1, 1]


def test_other_calls_are_left() -> None:
    words = words_of(row("0|1"), row("0|2"), row("1|."), row("a|b"))
    packed, left = read_quads(words, np.arange(4), np.array([True, True, True, True]), SAMPLES, "auto")
    assert left.tolist() == [1, 3]
    assert sorted(site for one in packed for site in one.sites) == [0, 2]


@pytest.mark.parametrize("samples", [1, 15, 16, 17])
def test_what_lies_behind_a_line_is_no_call(monkeypatch: pytest.MonkeyPatch, tmp_path: Path, samples: int) -> None:
    """The last words of a line are padded; only unusual calls are classified one by one."""
    monkeypatch.setattr(genotypes, "read_triples", None)
    lines = [HEAD + COLUMNS + "".join(f"\ts{i}" for i in range(samples))]
    lines += [f"1\t{site}\t.\tA\tG\t.\t.\t.\tGT" + "\t0|1" * samples for site in (5, 6, 7)]
    path = tmp_path / "x.vcf"
    path.write_text("\n".join(lines) + "\n")
    (found,) = read_alignments(path)
    assert unpack_sites(found.bits, found.haplotypes).tolist() == [[0, 1] * samples] * 3
