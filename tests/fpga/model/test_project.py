"""Projections, position lists and reports as Python sees them."""

from __future__ import annotations

import numpy as np
import pytest
from helpers.fpga_command import fpga

from hls_model import ModelError, Workload, load, simulate
from hls_model.errors import ModelInputError
from hls_model.paper.published import as_simulated
from hls_model.project import project, total_ranges, totals
from hls_model.ranges import Range
from hls_model.report import make_report
from hls_model.resources import REPORT_ROWS
from hls_model.text import percent, range_text, seconds_text
from hls_model.workload import even_positions, read_positions

SCAN = Workload.uniform(5_000, samples=100)


def test_projection_adds_up():
    one = project(SCAN, load("u200").but(ld="published"), all_pairs=True)
    assert one.omega_seconds == simulate(SCAN, load("u200")).seconds
    assert one.ld_seconds == pytest.approx(5_000**2 * 100 / 267.5e9)
    assert one.seconds == pytest.approx(sum(phase.seconds.likely for phase in one.phases if phase.beside is None))
    assert one.seconds > one.omega_seconds + one.ld_seconds
    assert one.energy.low < one.energy.likely < one.energy.high
    record = one.record()
    assert record["omegas"] == SCAN.omegas
    assert sum(record["phases_cycles"].values()) == record["cycles"]
    assert totals([one, one])["seconds"] == pytest.approx(2 * one.seconds)
    assert totals([one, one])["seconds_high"] == pytest.approx(2 * one.total.high)


def test_energy_where_power_is_given():
    one = project(SCAN, load("u200").but(power_watts=50.0))
    for bound in ("low", "likely", "high"):
        assert getattr(one.energy, bound) == pytest.approx(50 * getattr(one.total, bound))


def test_ld_of_the_pairs_that_windows_hold():
    positions = np.sort(np.random.default_rng(3).integers(1, 10_000, 150))
    scan = Workload.from_positions(positions, grid=20, minwin=50, maxwin=700, samples=10)
    pairs = set()
    for p in np.flatnonzero(scan.left * scan.right):
        inside = range(scan.first[p], scan.last[p] + 1)
        pairs |= {(i, j) for i in inside for j in inside if i < j}
    assert scan.window_pairs == len(pairs)
    assert project(scan, load("u200").but(ld="published")).ld_seconds == pytest.approx(len(pairs) * 10 / 267.5e9)


def test_no_samples_no_ld():
    one = project(Workload.uniform(100, grid=5), load("u200"))
    assert one.ld_seconds is None
    assert not {"pack genotypes", "send genotypes", "LD"} & {phase.name for phase in one.phases}


def test_joined_scans_take_what_they_take_alone():
    parts = [Workload.uniform(2_000, grid=40), Workload.uniform(3_000, grid=60)]
    config = load("u200").but(host_transfer="incremental")
    whole = simulate(Workload.joined(parts), config)
    alone = [simulate(part, config) for part in parts]
    assert whole.cycles == sum(one.cycles for one in alone)
    assert whole.transfer_bytes == sum(one.transfer_bytes for one in alone)


def test_even_positions():
    assert even_positions(4, 100).tolist() == [25, 50, 75, 100]
    with pytest.raises(ModelError, match="2 SNPs"):
        even_positions(1, 100)


def write(path, text):
    path.write_text(text)
    return path


def test_a_list_of_positions(tmp_path):
    path = write(tmp_path / "list.txt", "# bp\n100\n\n  250  # the second\n250\n9000\n")
    assert read_positions(path).tolist() == [100, 250, 250, 9000]


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("1\nx\n", "line 2: 'x' is no position"),
        ("1\n\n-5\n", "line 3: '-5'"),
        ("1\n2.5\n", "line 2: '2.5'"),
        ("7\n5\n", "line 2: 5 comes after 7"),
        ("# none\n", r"has too few positions \(0\)"),
        ("12\n", r"has too few positions \(1\)"),
        ("1\n99999999999999999999\n", "line 2"),
        ("1\n٣\n", "line 2"),
    ],
)
def test_a_bad_list_names_its_line(tmp_path, text, said):
    path = write(tmp_path / "list.txt", text)
    with pytest.raises(ModelInputError, match=said) as caught:
        read_positions(path)
    assert str(path) in str(caught.value)


def test_a_list_that_is_none(tmp_path):
    with pytest.raises(ModelInputError, match="cannot be read"):
        read_positions(tmp_path / "missing")
    (tmp_path / "binary").write_bytes(b"\xff\xfe\x00")
    with pytest.raises(ModelInputError, match="no text"):
        read_positions(tmp_path / "binary")


def test_report_of_the_longest_position():
    config = as_simulated(load("u200"))
    report = make_report(SCAN, config)
    cycles = simulate(SCAN, config).position_cycles
    assert (report.most, report.cycles) == (cycles.max(), cycles.sum())
    assert report.least == cycles[cycles > 0].min()
    loops = {loop.name: loop for loop in report.loops}
    beats = loops["beats of the right side"]
    assert (beats.trips, beats.achieved, beats.target) == (report.right // 32, 1, 1)
    assert beats.iteration_latency == config.depth
    assert loops["left borders"].trips == report.left
    assert loops["left borders"].latency == report.left * loops["left borders"].iteration_latency
    assert loops["tiles of the right side"].latency + loops["merge of the lanes"].latency == report.most
    assert [*report.utilisation] == [*REPORT_ROWS, "Total", "Available"]


@pytest.mark.parametrize(
    ("changes", "said"),
    [
        ((), "the interval is the latency."),
        (("kernels=2",), "Of 2 kernels each holds up to 1 positions, so positions start before others have ended."),
        (("positions_in_flight=3",), "Of 1 kernels each holds up to 3 positions"),
    ],
)
def test_report_says_when_positions_start(changes, said, capsys):
    words = ["report", "--snps", "500", "--grid", "5", "--unroll", "8"]
    assert fpga([*words, *(word for one in changes for word in ("--set", one))]) == 0
    assert said in capsys.readouterr().out


def test_report_tells_a_slow_memory_from_the_lanes():
    slow = load("u200").but(unroll=64, rs_buffer_words=1_024)
    report = make_report(SCAN, slow)
    loops = {loop.name: loop for loop in report.loops}
    assert loops["beats of the right side"].target == 1
    assert loops["beats of the right side"].achieved == 2  # two port beats for each beat of the lanes


def test_report_needs_a_beat():
    with pytest.raises(ModelError, match="no position has 32"):
        make_report(Workload.uniform(100, grid=5), load("u200"))


@pytest.mark.parametrize(
    ("seconds", "text"),
    [
        (0.0, "0 s"),
        (1.5, "1.5 s"),
        (4321.0, "4,321 s"),
        (0.0123, "12.3 ms"),
        (2e-6, "2 us"),
        (5e-9, "5 ns"),
        (0.9997, "1,000 ms"),
    ],
)
def test_seconds(seconds, text):
    assert seconds_text(seconds) == text


@pytest.mark.parametrize(
    ("bounds", "unit", "text"),
    [
        ((1.2, 1.5, 2.4), "s", "1.5 s (1.2-2.4)"),
        ((1.2e-3, 1.5e-3, 1.0), "s", "1.5 ms (1.2-1,000)"),
        ((1.5, 1.5, 1.5), "s", "1.5 s"),
        ((1.5, 1.5001, 1.5002), "s", "1.5 s"),
        ((0.0, 0.0, 0.0), "s", "0 s"),
        ((0.0, 0.0, 2e-6), "s", "0 us (0-2)"),
        ((20.0, 45.0, 1234.0), "W", "45 W (20-1,234)"),
        ((-3.0, 1.0, 2.0), "%", "1 % (-3 to 2)"),
        ((1.0, 2.0, 3.0), "", "2 (1-3)"),
    ],
)
def test_range(bounds, unit, text):
    assert range_text(Range(*bounds), unit) == text


def test_percent():
    assert percent(0.403) == "40 %"
    assert percent(0.403, 1) == "40.3 %"


def test_totals_of_several_scans_are_the_sums_of_their_phases_and_energies():
    ones = [project(Workload.uniform(snps, samples=50, grid=20), load("u200")) for snps in (800, 1_500)]
    ranges, whole = total_ranges(ones), totals(ones)
    for bound in ("low", "likely", "high"):
        assert getattr(ranges["seconds"], bound) == pytest.approx(sum(getattr(one.total, bound) for one in ones))
        assert getattr(ranges["joules"], bound) == pytest.approx(sum(getattr(one.energy, bound) for one in ones))
    assert [whole[name] for name in ("seconds_low", "seconds", "seconds_high")] == [*vars(ranges["seconds"]).values()]
