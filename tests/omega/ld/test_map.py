"""A map of linkage disequilibrium in one call, from arrays and a report in memory or from files."""

from __future__ import annotations

import dataclasses
import sys
import types
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from helpers.alignments import correlated_states, make_alignment, random_positions
from helpers.linkage import ld_matrix
from helpers.products import examples
from hypothesis import given, settings, strategies as st

from oclgenomics.app.reports import write_report
from oclgenomics.errors import InputError, ParameterError, UsageError
from oclgenomics.omega import LdOptions, Run, ScanOptions, ld_around_peak, reference, scan
from oclgenomics.omega.device.ld import LdBlock, ld_blocks
from oclgenomics.omega.device.scanner import OmegaScanner
from oclgenomics.omega.formats.scans import make_report, read_report
from oclgenomics.omega.ld.map import PART_COLUMNS, BinnedLd, LdMap
from oclgenomics.omega.ld.region import LdPart, omega_of_parts, window_parts
from oclgenomics.omega.result import OmegaReport
from oclgenomics.runtime import Engine
from oclgenomics.variation.alignment import Alignment
from oclgenomics.variation.read_options import ReadOptions

POSITIONS = np.arange(100) * 97 + 11


@pytest.fixture
def alignment(rng: np.random.Generator) -> Alignment:
    return make_alignment(correlated_states(rng, 100, 30), POSITIONS)


@pytest.fixture
def report(alignment: Alignment, engine: Engine, tmp_path: Path) -> OmegaReport:
    path = tmp_path / "scan.tsv"
    options = ScanOptions(grid=20, minwin=100, maxwin=2_000)
    made = {"parameters": {"maf": 0.0, "phase": "auto", "ld": "RSQUARE", "precision": "accurate"}}
    with path.open("wb") as stream:
        write_report(scan(alignment, options, engine=engine), stream, make_report(provenance=made))
    return read_report(str(path))


def test_a_peak_is_shown_with_its_window(alignment: Alignment, report: OmegaReport, engine: Engine) -> None:
    seen: list[tuple[int, int]] = []
    found = ld_around_peak(
        alignment, LdOptions(scan=report), engine=engine, run=Run(progress=lambda *done: seen.append(done))
    )
    (track,) = report.tracks
    best = int(track.omega.argmax())
    point = found.region.point
    assert point is not None
    assert (point.position, point.window) == (track.positions[best], (track.left[best], track.right[best]))
    assert found.omega == pytest.approx(track.omega[best], rel=1e-5)
    assert found.agrees
    whole = ld_matrix(found.region.alignment, 0, found.region.alignment.sites - 1, engine=engine)
    for part in found.parts:
        rows, columns = (slice(first, last + 1) for first, last in (part.rows, part.columns))
        assert part.total == pytest.approx(np.triu(whole, 1)[rows, columns].sum(), rel=1e-5)
    assert [part.name for part in found.parts] == ["left", "right", "across", "region"]
    assert seen[-1] == (found.region.alignment.sites,) * 2


def test_another_position_and_a_region(alignment: Alignment, report: OmegaReport, engine: Engine) -> None:
    near = ld_around_peak(alignment, LdOptions(scan=report, at=("1", 5_000.0), margin=0), engine=engine)
    assert near.region.point is not None
    assert (near.region.start, near.region.end) == near.region.point.window
    plain = ld_around_peak(alignment, LdOptions(region=("1", 1_000, 3_000)), engine="cpu")
    assert (plain.omega, plain.agrees, plain.region.point) == (None, True, None)
    assert plain.region.positions.tolist() == POSITIONS[(POSITIONS >= 1_000) & (POSITIONS <= 3_000)].tolist()


def test_the_alignment_is_the_one_asked_for(alignment: Alignment, engine: Engine) -> None:
    other = dataclasses.replace(alignment, name="2")
    found = ld_around_peak([other, alignment], LdOptions(region=("1", 1_000, 3_000)), engine=engine)
    assert found.region.alignment.name == "1"
    with pytest.raises(InputError, match=r"the input: holds no chromosome or replicate 3 \(but 2, 1\)"):
        ld_around_peak([other, alignment], LdOptions(region=("3", 1_000, 3_000)), engine=engine)
    with pytest.raises(InputError, match=r"holds no chromosome or replicate 1 \(but 2\)"):
        ld_around_peak(other, LdOptions(region=("1", 1_000, 3_000)), engine=engine)


def test_omega_of_other_samples_does_not_agree(alignment: Alignment, report: OmegaReport, engine: Engine) -> None:
    (track,) = report.tracks
    track.omega[track.omega.argmax()] *= 1.01
    assert not ld_around_peak(alignment, LdOptions(scan=report), engine=engine).agrees


def test_records_table_and_line(
    alignment: Alignment, report: OmegaReport, engine: Engine, monkeypatch: pytest.MonkeyPatch
) -> None:
    found = ld_around_peak(alignment, LdOptions(scan=report), engine=engine)
    records = list(found.records())
    assert [tuple(record) for record in records] == [PART_COLUMNS] * 4
    assert {type(value) for record in records for value in record.values()} == {str, int, float}
    assert [record["mean_r2"] for record in records] == [part.mean for part in found.parts]
    library = types.ModuleType("pandas")
    library.DataFrame = dict  # type: ignore[attr-defined]
    monkeypatch.setitem(sys.modules, "pandas", library)
    assert found.to_frame() == {name: [record[name] for record in records] for name in PART_COLUMNS}
    start, end = found.region.start, found.region.end
    assert repr(found).startswith(f"<LdMap of 1:{start}-{end}: {found.region.alignment.sites} sites, mean r2: left 0.")
    with pytest.raises(AttributeError):
        found.omega = 1.0  # type: ignore[misc]


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({}, "give scan='REPORT' or region='CHR:FROM-TO'"),
        ({"scan": "r.tsv", "region": ("1", 1, 2)}, "give scan='REPORT' or region='CHR:FROM-TO'"),
        ({"region": ("1", 1, 2), "margin": 5}, "margin has no effect with region; it needs scan='REPORT'"),
        ({"scan": "r.tsv", "peak": 1, "at": ("1", 5.0)}, "peak and at contradict each other"),
        ({"region": ("1", 9, 5)}, "region='1:9-5': its end comes before its start"),
    ],
)
def test_what_to_show_is_said_once(change: dict[str, Any], message: str) -> None:
    with pytest.raises(UsageError) as error:
        LdOptions(**change)
    assert message in str(error.value)


def test_parameters_of_the_report_are_not_changed(alignment: Alignment, report: OmegaReport, engine: Engine) -> None:
    def shown(reading: ReadOptions | None = None, **filters: Any) -> LdMap:
        return ld_around_peak(alignment, LdOptions(scan=report, **filters), reading=reading, engine=engine)

    assert shown(ReadOptions(phase="auto"), maf=0.0).agrees
    with pytest.raises(ParameterError, match=r"maf=0.1: the scan of .*scan.tsv was made without maf; leave the option"):
        shown(maf=0.1)
    with pytest.raises(ParameterError, match=r"phase='strict': the scan of .* was made with phase='auto'"):
        shown(ReadOptions(phase="strict"))
    report.parameters["maf"] = "much"
    with pytest.raises(InputError, match="'much' is no maf of a scan"):
        shown()
    report.parameters.update(maf="0.05", impute="N x")
    with pytest.raises(ParameterError, match="impute='x': choose N, GAP or both"):
        shown()


def blocks_of(values: np.ndarray, rows: int) -> Iterator[LdBlock]:
    upper = np.triu(values, 1)
    for row0 in range(0, len(values), rows):
        yield LdBlock(row0, upper[row0 : row0 + rows, row0:])


@settings(max_examples=examples(100))
@given(
    sites=st.integers(2, 40), most=st.integers(1, 45), rows=st.integers(1, 45), seed=st.integers(0, 100),
)  # fmt: skip
def test_pixels_are_means_of_the_pairs_within_them(sites, most, rows, seed):
    rng = np.random.default_rng(seed)
    values = rng.random((sites, sites)).astype(np.float32)
    values[rng.random(values.shape) < rng.choice([0, 0.2, 0.9])] = np.nan
    picture = BinnedLd(sites, most)
    for block in blocks_of(values, rows):
        picture.add(block)
    means = picture.means()
    assert means.shape == (min(sites, most),) * 2
    for a, b in np.ndindex(means.shape):
        pairs = [
            values[i, j]
            for i in range(picture.starts[a], picture.starts[a + 1])
            for j in range(picture.starts[b], picture.starts[b + 1])
            if i < j and not np.isnan(values[i, j])
        ]
        np.testing.assert_allclose(means[a, b], np.mean(pairs) if pairs else np.nan, rtol=1e-6)


@given(sites=st.integers(3, 40), rows=st.integers(1, 45), seed=st.integers(0, 100))
def test_parts_are_sums_over_their_pairs(sites, rows, seed):
    rng = np.random.default_rng(seed)
    values = rng.random((sites, sites)).astype(np.float32)
    values[rng.random(values.shape) < rng.choice([0, 0.2])] = np.nan
    first, split, last = sorted(rng.choice(sites, 3, replace=False).tolist())
    parts = [*window_parts(first, split, last), LdPart("all", (0, sites - 1), (0, sites - 1))]
    for block in blocks_of(values, rows):
        parts = [part.plus(block) for part in parts]
    upper = np.triu(values, 1).astype(np.float64)
    left, right = slice(first, split + 1), slice(split + 1, last + 1)
    places = [(left, left), (right, right), (left, right), (slice(None), slice(None))]
    expected = [np.nansum(upper[place]) for place in places]
    assert [part.undefined for part in parts] == [np.isnan(upper[place]).sum() for place in places]
    np.testing.assert_allclose([part.total for part in parts], expected, rtol=1e-6, atol=1e-9)
    k, m = split - first + 1, last - split
    pairs = [k * (k - 1) // 2, m * (m - 1) // 2, k * m, sites * (sites - 1) // 2]
    assert [part.pairs for part in parts] == pairs
    assert [part.sites for part in parts] == [k, m, k + m, sites]
    assert np.isnan(parts[0].mean) == (parts[0].defined == 0)
    omega = reference.omega_of_window(np.nan_to_num(upper), split, first, last)
    parts = [replace(part, undefined=0) for part in parts]  # as of n r2, which is 0 there
    np.testing.assert_allclose(omega_of_parts(*parts[:3]), omega, rtol=1e-6)


@pytest.mark.parametrize("data", ["complete", "masked", "unphased"])
def test_parts_give_the_omega_of_the_scan(shaped, rng, data):
    states, positions = correlated_states(rng, 150, 40), np.unique(random_positions(rng, 400))[:150]
    seen = rng.random(states.shape) < 0.9 if data == "masked" else None
    alignment = make_alignment(states, positions, seen, unphased=data == "unphased")
    scan = OmegaScanner(shaped).scan(alignment, ScanOptions(grid=20, minwin=100, maxwin=10_000))
    assert scan.best is not None
    first, last = np.searchsorted(positions, [scan.left[scan.best], scan.right[scan.best]]).tolist()
    split = int(np.searchsorted(positions, int(scan.positions[scan.best]), "right")) - 1
    parts = window_parts(first, split, last)
    for block in ld_blocks(alignment, shaped, measure="nr2"):
        parts = tuple(part.plus(block) for part in parts)
    np.testing.assert_allclose(omega_of_parts(*parts), scan.omega[scan.best], rtol=1e-4)
