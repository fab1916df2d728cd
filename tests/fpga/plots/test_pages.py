"""The page of a projection: phases add up to the total of each design."""

from __future__ import annotations

from collections.abc import Sequence

import pytest

from hls_model.phases import Phase, added, total
from hls_model.ranges import Range
from hls_model.workload import Workload
from oclgenomics.fpga import ScanProjection, project_workloads
from oclgenomics.fpga.plots.pages import _timeline, projection_page


def projected(designs: Sequence[str], scans: int = 1) -> ScanProjection:
    workloads = [
        Workload.uniform(400 * number, length=100_000, grid=20, minwin=1_000, maxwin=20_000, samples=50)
        for number in range(1, scans + 1)
    ]
    return project_workloads(workloads, designs)


@pytest.mark.parametrize("designs", [("u200",), ("u200", "u280_hbm", "v80")])
@pytest.mark.parametrize("scans", [1, 3])
def test_phases_add_up(designs: tuple[str, ...], scans: int) -> None:
    found = projected(designs, scans)
    page = projection_page(found.projections, title="x")
    timeline, pipelines, table, phases = page.parts
    *bars, bounds = timeline.traces
    seconds = {name: total(added(one.phases for one in some)) for name, some in found.projections.items()}
    assert bounds["x"] == [one.likely for one in seconds.values()]
    for place, (name, time) in enumerate(seconds.items()):
        ends = [
            base + width for bar in bars for base, width, y in zip(bar["base"], bar["x"], bar["y"], strict=True)
            if abs(y - place) < 0.5
        ]  # fmt: skip
        assert max(ends) == pytest.approx(time.likely)
        assert bounds["error_x"]["array"][place] == time.high - time.likely
        assert sum(trace["x"][place] for trace in pipelines.traces) == pytest.approx(1, abs=0.05)
        known = added(one.phases for one in found.projections[name])
        listed = [row for row in phases.rows if row[0] == name]
        assert [row[3] for row in listed] == [phase.seconds.likely for phase in known]
    assert [row[0] for row in table.rows] == list(designs)
    fastest = min(seconds, key=lambda name: seconds[name].likely)
    assert page.title.startswith(f"{fastest}: the whole scan in ")


def test_a_phase_waits_for_all_that_runs_during_the_one_before() -> None:
    phases = (
        Phase("LD", "card", Range.exactly(1)), Phase("remainder", "host", Range.exactly(3), beside="LD"),
        Phase("build M", "card", Range.exactly(2)),
    )  # fmt: skip
    *bars, bounds = _timeline({"mine": phases}, {"mine": total(phases)}).traces
    places = {bar["name"]: (bar["base"], bar["x"]) for bar in bars}
    assert places == {"LD": ([0], [1]), "remainder (in parallel)": ([0], [3]), "build M": ([3], [2])}
    assert bounds["x"] == [5]
