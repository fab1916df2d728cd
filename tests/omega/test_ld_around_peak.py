"""A map of linkage disequilibrium in one call, from arrays and a report in memory or from files."""

from __future__ import annotations

import dataclasses
import sys
import types
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from helpers.alignments import correlated_states, make_alignment

from oclgenomics.errors import InputError, ParameterError, UsageError
from oclgenomics.omega import LdOptions, ScanOptions, ld_around_peak, scan
from oclgenomics.omega.formats.reading import OmegaReport, read_report
from oclgenomics.omega.formats.scans import make_report, write_report
from oclgenomics.omega.ld.pairs import ld_matrix
from oclgenomics.omega.ld.result import PART_COLUMNS, LdMap
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
    with path.open("w") as stream:
        write_report(scan(alignment, options, engine=engine), stream, make_report(provenance=made))
    return read_report(str(path))


def test_a_peak_is_shown_with_its_window(alignment: Alignment, report: OmegaReport, engine: Engine) -> None:
    seen: list[tuple[int, int]] = []
    found = ld_around_peak(alignment, LdOptions(scan=report), engine=engine, progress=lambda *done: seen.append(done))
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
    plain = ld_around_peak(alignment, LdOptions(region=("1", 1_000, 3_000)), device="cpu")
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
