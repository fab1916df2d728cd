"""The measurement beside a projection: the shortest of several runs, CPU time, and no verdict that others decide."""

from __future__ import annotations

import os
from collections.abc import Callable
from dataclasses import replace
from types import SimpleNamespace

import pytest

from hls_model import Workload
from hls_model.ranges import Range
from oclgenomics.cli.main import main
from oclgenomics.fpga import project_workloads
from oclgenomics.fpga.commands.projection_text import projection_record, projection_text
from oclgenomics.fpga.measuring import BUSY, Clocks, Measured, TimedRun, _machine_seconds, measured_of, repeated

CPU = SimpleNamespace(kind="cpu", compute_units=4)
GPU = SimpleNamespace(kind="gpu", compute_units=132)
QUIET = Measured("a CPU", (0.100,), slowest=0.110, cpu_seconds=0.36, cores=4, runs=5, others=0.01)
# the same scan, when others leave a quarter of each core; the CPU time is longer by what they share
LOADED = Measured("a CPU", (0.400,), slowest=0.600, cpu_seconds=0.50, cores=4, runs=5, others=0.75)


class Machine:
    """Clocks of a machine on which a scan of some CPU seconds gets a share of the cores; one entry for each run."""

    def __init__(self, walls: list[float], cpu: float, busy: float | None = 0.0) -> None:
        self.walls, self.cpu, self.busy = iter(walls), cpu, busy
        self.wall_now = self.process_now = self.machine_now = 0.0
        self.scans = 0

    def scan(self) -> list[float]:
        wall = next(self.walls)
        self.scans += 1
        self.wall_now += wall
        self.process_now += self.cpu
        self.machine_now += self.cpu + (self.busy or 0.0) * wall
        return [wall / 4, 3 * wall / 4]

    @property
    def clocks(self) -> Clocks:
        machine: Callable[[], float | None] = lambda: None if self.busy is None else self.machine_now  # noqa: E731
        return Clocks(lambda: self.wall_now, lambda: self.process_now, machine)


def test_the_shortest_run_counts_after_one_to_compile() -> None:
    machine = Machine([9.0, 1.4, 1.1, 1.3, 2.0, 5.0, 5.0], cpu=3.0, busy=0.5)
    runs = repeated(machine.scan, machine.clocks)
    assert machine.scans == 5  # the first is not counted; after 5.8 s it is enough
    assert [run.wall for run in runs] == pytest.approx([1.4, 1.1, 1.3, 2.0])
    assert [run.cpu for run in runs] == pytest.approx([3.0] * 4)
    found = measured_of(CPU, [runs], cpus=4)
    assert found.seconds == pytest.approx((0.275, 0.825))
    assert (found.total, found.slowest, found.runs) == pytest.approx((1.1, 2.0, 4))
    assert (found.cpu_seconds, found.cores) == (pytest.approx(3.0), 4)
    assert found.others == pytest.approx(0.5 / 4)
    assert measured_of(GPU, [runs], cpus=4).cores == 0


@pytest.mark.parametrize(
    ("walls", "counted"),
    [([1.0] * 99, 5), ([0.1] * 99, 9), ([0.01] * 99, 30), ([4.0] * 99, 3), ([61.0] * 99, 1), ([0.0] * 9999, 1000)],
)
def test_how_often_a_scan_is_repeated(walls: list[float], counted: int) -> None:
    machine = Machine([1.0, *walls], cpu=0.1)
    assert abs(len(repeated(machine.scan, machine.clocks)) - counted) <= (counted > 9)  # sums of floats


def test_batches_add_up() -> None:
    one = [TimedRun((1.0, 2.0), 5.0, 1.0), TimedRun((1.5, 2.5), 4.0, 0.0), TimedRun((1.2, 2.2), 6.0, 0.0)]
    two = [TimedRun((4.0,), 7.0, 0.0), TimedRun((3.0,), 8.0, 3.0)]
    found = measured_of(CPU, [one, two], cpus=2)
    assert found.seconds == (1.0, 2.0, 3.0)
    assert (found.total, found.slowest, found.cpu_seconds, found.runs) == (6.0, 8.0, 11.0, 2)
    assert found.others == pytest.approx(4.0 / (2 * 17.4))
    assert measured_of(CPU, [[replace(run, others=None) for run in one], two]).others is None
    assert measured_of(CPU, []).range is None


def test_what_the_time_with_the_machine_alone_may_be() -> None:
    assert QUIET.range == Range(0.100, 0.100, 0.110)
    assert LOADED.busy
    assert LOADED.range == Range(0.5 * 0.50 / 4, 0.400, 0.600)
    assert LOADED.range.holds(QUIET.total)
    unknown = replace(QUIET, others=None)
    assert unknown.range == Range(0.5 * 0.36 / 4, 0.100, 0.110)
    gpu = replace(QUIET, cores=0)
    assert gpu.range == Range(0.100, 0.100, 0.110)
    for unbounded in (replace(LOADED, cores=0), replace(gpu, others=None), replace(QUIET, runs=1)):
        assert unbounded.range is None
        assert unbounded.times(Range(1, 2, 3)) is None
    assert replace(QUIET, seconds=()).times(Range(1, 2, 3)) is None
    spun = replace(LOADED, cpu_seconds=99.0)  # threads that wait with a loop: no more than the best run
    assert spun.range == Range(0.400, 0.400, 0.600)


def test_times_are_the_widest_of_both_ranges() -> None:
    assert QUIET.times(Range(0.2, 0.22, 0.3)) == Range(0.2 / 0.110, 0.22 / 0.100, 0.3 / 0.100)


# no verdict that the spread does not bear

SCAN = Workload.uniform(2_000, grid=40, samples=100)


def verdict(measured: Measured, times: float) -> str:
    """What is said of the U200 where its likely time is so many times the measurement's 100 ms."""
    found = project_workloads([SCAN], ["u200"])
    scale = found.totals("u200")["seconds"] / (0.1 * times)
    scaled = replace(
        measured, seconds=tuple(scale * seconds for seconds in measured.seconds), slowest=scale * measured.slowest,
        cpu_seconds=scale * measured.cpu_seconds,
    )  # fmt: skip
    return projection_text(replace(found, measured=scaled)).splitlines()[-1]


def test_a_verdict_where_both_ranges_bear_it() -> None:
    assert verdict(QUIET, 10.0).endswith("the measured time: longer")
    assert verdict(QUIET, 0.01).endswith("the measured time: shorter")
    assert verdict(QUIET, 1.0).endswith("the measured time: the ranges do not say which is shorter")


def test_the_ratio_of_a_loaded_machine_is_no_verdict() -> None:
    """Chromosome 20 on the U200, measured alone and beside programs that left the scan a tenth of two cores."""
    projected = Range(0.178, 0.220, 0.573)
    alone = Measured("", (0.0852,), slowest=0.090, cpu_seconds=0.160, cores=2, runs=9, others=0.02).times(projected)
    beside = Measured("", (1.18,), slowest=1.27, cpu_seconds=0.328, cores=2, runs=5, others=0.85).times(projected)
    assert alone is not None
    assert beside is not None
    assert alone.likely == pytest.approx(2.6, abs=0.05)
    assert alone.low > 1
    assert beside.low < 1 < beside.high
    assert beside.holds(alone.likely)


@pytest.mark.parametrize("load", [0.1, 0.5, 0.75, 0.9, 0.97])
@pytest.mark.parametrize("times", [0.01, 0.3, 1.0, 2.6, 10.0])
def test_load_does_not_turn_a_verdict_round(load: float, times: float) -> None:
    """Others take a share of every core: the time grows, the CPU time stays, and what was longer is not shorter."""
    slowed = replace(QUIET, seconds=(0.100 / (1 - load),), slowest=0.12 / (1 - load), others=load)
    before, after = (verdict(measured, times).split(": ")[-1] for measured in (QUIET, slowed))
    assert after in (before, "the ranges do not say which is shorter")
    assert " (" not in verdict(slowed, times).split(", ")[-1]  # no likely value: it would be the load's


def test_load_is_told(capsys: pytest.CaptureFixture[str]) -> None:
    found = project_workloads([SCAN], ["u200"], measured=LOADED)
    text = projection_text(found)
    assert (
        "measured on a CPU: LD and omega in 400 ms at best (5 runs of up to 600 ms; 500 ms of CPU time on 4 c" in text
    )
    assert (
        "\nother programs took 75 % of this machine's CPUs during the measurement: with the machine alone, betw" in text
    )
    assert "between 62.5 ms and 600 ms" in text
    quiet = projection_text(project_workloads([SCAN], ["u200"], measured=QUIET))
    assert "other programs" not in quiet
    gpu = projection_text(project_workloads([SCAN], ["u200"], measured=replace(LOADED, cores=0)))
    assert "the measured time is too long, and nothing says by how much" in gpu
    assert gpu.endswith("not compared: the measured time has no bounds")
    record = projection_record(found, {})["measured"]
    assert record["times"]["u200"]["low"] < record["times"]["u200"]["high"]
    assert record["range"] == {"low": 0.0625, "likely": 0.4, "high": 0.6}
    assert record["others_share_of_cpus"] == 0.75
    assert projection_record(project_workloads([SCAN], measured=replace(LOADED, cores=0)), {})["measured"]["times"] == {
        "u200": None
    }


@pytest.mark.parametrize("busy", [BUSY / 2, 2 * BUSY])
def test_the_command_warns_under_load(busy: float, device, monkeypatch, capsys) -> None:  # type: ignore[no-untyped-def]
    monkeypatch.setattr("oclgenomics.fpga.api.measured_of", lambda *_: replace(QUIET, others=busy))
    assert main(["fpga", "project", "--snps", "100", "--grid", "5", "--samples", "9", "-d", str(device.index)]) == 0
    captured = capsys.readouterr()
    assert ("run it again when the machine is idle" in captured.err) == (busy > BUSY)
    assert "measured on a CPU" in captured.out


def test_a_real_measurement(engine) -> None:  # type: ignore[no-untyped-def]
    busy: list[float] = []

    def scan() -> list[float]:
        clock = Clocks()
        start = clock.wall()
        busy.append(sum(range(200_000)))
        return [clock.wall() - start]

    found = measured_of(engine.device, [repeated(scan)])
    assert found.runs == len(busy) - 1 >= 3
    assert 0 < found.total <= found.slowest
    assert found.cpu_seconds > 0
    assert found.others is None or 0 <= found.others <= 1.5


def test_counters_of_the_machine(tmp_path) -> None:  # type: ignore[no-untyped-def]
    path = tmp_path / "stat"
    path.write_text("cpu  100 20 30 99999 888 7 3 55 0 0\ncpu0 1 2 3 4 5 6 7 8 9 10\n")
    ticks = 100 + 20 + 30 + 7 + 3  # neither idle nor waiting for a disk, nor of other guests
    found = _machine_seconds(path)
    assert found == pytest.approx(ticks / os.sysconf("SC_CLK_TCK"))
    for text in ("", "cpu 1 2", "intr 1 2 3 4 5 6 7 8", "cpu a b c d e f g h"):
        path.write_text(text)
        assert _machine_seconds(path) is None
    assert _machine_seconds(tmp_path / "none") is None
