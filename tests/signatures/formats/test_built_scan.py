"""Scans with panels from files: their tables are used where they suit, and the matches stay the same."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from helpers.signature_samples import random_letters

from oclgenomics.runtime import Engine
from oclgenomics.signatures import Panel, ScanOptions, build_panel, scan
from oclgenomics.signatures.device import seed_table
from oclgenomics.signatures.formats.panel_file import KeptTables


@pytest.fixture(scope="module")
def files(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, Panel]:
    """Samples that hold parts of each other, with letters of all kinds, and signatures in them."""
    rng = np.random.default_rng(8)
    samples = [bytearray(random_letters(rng, 2000, 0.02, "ACGT")) for _ in range(4)]
    signatures = []
    for number, size in enumerate(rng.integers(30, 200, 24)):
        sample = samples[number % 4]
        begin = int(rng.integers(0, len(sample) - size))
        letters = sample[begin : begin + size]
        letters[int(rng.integers(size))] = ord("ACGTN"[number % 5])
        signatures.append((f"p{number}", bytes(letters)))
    path = tmp_path_factory.mktemp("samples") / "x.fa"
    path.write_text("".join(f">s{i}\n{sample.decode()}\n" for i, sample in enumerate(samples)))
    return path, Panel.from_signatures([*signatures, ("short", b"ACGTA")])


def count_reads(monkeypatch: pytest.MonkeyPatch) -> list[Any]:
    """The keys of tables that are read from now on."""
    seen: list[Any] = []
    read = KeptTables.read

    def noted(self: KeptTables, key: Any) -> Any:
        seen.append(key)
        return read(self, key)

    monkeypatch.setattr(KeptTables, "read", noted)
    return seen


def no_table(*_: object) -> None:
    raise AssertionError("a table was made")


@pytest.mark.parametrize("report", ["best", "all"])
@pytest.mark.parametrize(("strand", "mismatches"), [("+", 0), ("both", 1)])
def test_tables_of_a_file_are_used(
    engine: Engine, files: tuple[Path, Panel], tmp_path: Path, monkeypatch: pytest.MonkeyPatch,
    report: Any, strand: Any, mismatches: int,
) -> None:  # fmt: skip
    samples, panel = files
    options = ScanOptions(report, strand, "index", mismatches)
    expected = scan(samples, panel, options, engine=engine).records()
    assert len({match["signature"] for match in expected}) > 12
    build_panel(panel, tmp_path / "x", strand=strand, max_mismatches=mismatches)
    seen = count_reads(monkeypatch)
    for name in ("choose_seeds", "make_table", "table_on_device"):
        monkeypatch.setattr(seed_table, name, no_table)
    assert scan(samples, tmp_path / "x", options, engine=engine).records() == expected
    assert [key[:2] for key in seen] == [(strand, mismatches)]


def test_tables_for_others_are_not_used(
    engine: Engine, files: tuple[Path, Panel], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    samples, panel = files
    build_panel(panel, tmp_path / "x")
    seen = count_reads(monkeypatch)
    for options in (ScanOptions(strand="both", method="index"), ScanOptions(max_mismatches=1, method="index")):
        expected = scan(samples, panel, options, engine=engine).records()
        assert scan(samples, tmp_path / "x", options, engine=engine).records() == expected
    for method in ("planes", "brute"):
        scan(samples, tmp_path / "x", ScanOptions(method=method), engine=engine)  # type: ignore[arg-type]
    assert not seen
