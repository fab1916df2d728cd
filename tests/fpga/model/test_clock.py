"""Clocks: they fall with fill and with borders between dies, and a faster clock asked for makes no scan slower."""

from __future__ import annotations

import itertools
import json
import re
from dataclasses import replace

import pytest
from helpers.fpga_command import fpga
from hypothesis import example, given, settings, strategies as st

from hls_model import Workload, load, simulate
from hls_model.clock import builds, least_seconds, reached_clock
from hls_model.extras.explore import Space, explore
from hls_model.presets import PRESETS, is_what_if
from hls_model.project import project
from hls_model.uncertainty import built_band

SCAN = Workload.uniform(3_000, samples=100, grid=20)
ENDS = ("low", "likely", "high")
SMALL = Workload.uniform(1_500, grid=5)
CLOCKS = (60.0, 61.0, 100.0, 101.0, 175.0, 176.0, 245.5, 247.0, 248.5, 250.0, 251.0, 265.0, 301.0, 425.5, 500.0)


def test_one_region_meets_the_clock_of_the_paper_and_several_may_not():
    for name in ("u200", "zcu102"):
        found = reached_clock(load(name))
        assert found.low == found.high == load(name).clock_mhz
    many = reached_clock(load("u280_hbm"))  # two of three regions full
    assert (many.low, many.likely, many.high) == (147, 222, 297)


@pytest.mark.parametrize("board", ["u250", "u280_hbm", "v80"])
def test_the_clock_falls_with_fill_and_borders(board):
    ranges = [reached_clock(load(board).but(unroll=unroll, clock_mhz=500.0)) for unroll in (8, 32, 64, 128)]
    for end in ENDS:
        values = [getattr(one, end) for one in ranges]
        assert values == sorted(values, reverse=True)
    assert ranges[-1].likely < ranges[0].likely < 500


def test_a_clock_that_is_met_is_exact():
    design = load("u280_hbm").but(clock_met=True)
    assert reached_clock(design).low == reached_clock(design).high == 300
    assert [one.clock_mhz for one in builds(design)] == [300]
    found = project(SCAN, design)
    assert found.timing.config.clock_mhz == 300
    assert "clock_mhz" not in {part.unknown.name for part in found.made_of}


@pytest.mark.parametrize("board", ["u200", "u280_hbm"])
def test_no_range_falls_as_the_clock_asked_for_rises(board):
    design = load(board).but(unroll=16)
    rates = [built_band(SMALL, design.but(clock_mhz=clock)).rate for clock in CLOCKS]
    for end in ENDS:
        for slower, faster in itertools.pairwise(getattr(rate, end) for rate in rates):
            assert faster >= slower * (1 - 1e-12)


@settings(max_examples=6, deadline=None)
@given(
    st.sampled_from(["u200", "zcu102", "vck190", "u280_hbm"]),
    st.sampled_from([1, 2]),
    st.sampled_from([4, 16, 64]),
    st.booleans(),
    st.tuples(st.floats(60, 500), st.floats(60, 500)).map(sorted),
)
@example("u200", 1, 64, True, [252.0, 283.0])
@example("vck190", 2, 16, True, [244.548, 282.0])
def test_banks_that_do_not_keep_up_cost_a_faster_clock_little(board, ports, burst, overlap, clocks):
    """Port beats of slow banks are rounded up to whole cycles once a column, by less the longer a column is."""
    design = load(board)
    memory = replace(design.memory, ports=ports, burst_length=burst)
    design = design.but(unroll=16, memory=memory, overlap_outer=overlap)
    slower, faster = (built_band(SMALL, design.but(clock_mhz=clock)).rate for clock in clocks)
    for end in ENDS:
        assert getattr(faster, end) >= getattr(slower, end) * 0.997


@pytest.mark.parametrize("name", ["u200", "u200_overlap", "u280_hbm", "vck190"])
def test_the_closed_form_is_the_least_and_nearly_the_time(name):
    built = builds(load(name).but(clock_mhz=400.0))[::8]
    for one, least in zip(built, least_seconds(SMALL, built), strict=True):
        assert 0.99 < least / simulate(SMALL, one).hardware_seconds <= 1 + 1e-12


def test_commands_show_the_clock_that_a_design_is_likely_to_reach(capsys):
    board = ["--board", "u280_hbm"]
    unbuilt = "; a what-if: no such kernel is known to have been built"
    built = "u280_hbm: built for 250 MHz in 3 regions, reaches 222 (147-250) MHz" + unbuilt
    asked = "u280_hbm: shown at the 300 MHz asked for; in 3 regions it reaches 222 (147-297) MHz" + unbuilt
    for words, line, mhz in (
        (["curve", "--to", "2000"], built, 222),
        (["roofline"], built, 222),
        (["report"], built, 222),
        (["timing"], asked, 300),
        (["resources"], asked, 300),
    ):
        assert fpga([*words, *board]) == 0
        shown = capsys.readouterr().out
        assert line in shown
        assert fpga([*words, *board, "--json"]) == 0
        found = json.loads(capsys.readouterr().out)
        assert (found["clock_mhz"], found["what_if"]) == (mhz, True)
        assert found["clock_mhz_range"]["low"] == 147
        assert found["clock_mhz_range"]["likely"] == 222
    assert fpga(["report", *board]) == 0
    assert re.search(r"period, ns +4.00 +4.5 \(4-6.8\)\n", capsys.readouterr().out)
    assert fpga(["report", *board, "--no-uncertainty", "--json"]) == 0
    seconds = json.loads(capsys.readouterr().out)["latency_seconds"]["all_positions"]
    assert seconds["low"] == seconds["likely"] == seconds["high"]
    assert fpga(["curve", "--unrolls", "8,64", *board]) == 0
    assert re.search(r"\n8 +\d+ \(\d+-300\) ", capsys.readouterr().out)
    assert fpga(["timing"]) == 0
    assert "u200: shown at the 250 MHz asked for, which it reaches in one region\n" in capsys.readouterr().out


def test_designs_that_are_not_the_papers_are_what_ifs():
    assert {name for name in PRESETS if not is_what_if(load(name))} == {"zcu102", "u200", "u200_resources16"}
    paper = load("u200")
    assert not is_what_if(paper.but(name="mine", clock_mhz=200.0, position_overhead_us=3.0))
    changes = ({"unroll": 64}, {"kernels": 2}, {"clock_mhz": 300.0}, {"memory": replace(paper.memory, ports=1)})
    assert all(is_what_if(paper.but(**change)) for change in changes)


def test_the_rates_of_a_curve_and_a_roofline_are_those_of_the_clock_reached(capsys):
    words = ["--board", "u280_hbm", "--json"]
    met = ["--set", "clock_met=true"]
    for command, rate in (("curve", lambda one: one["omega_per_s"][-1]), ("roofline", lambda one: one["omega_per_s"])):
        assert fpga([command, *words]) == 0
        found = rate(json.loads(capsys.readouterr().out))
        assert fpga([command, *words, *met]) == 0
        assert 0.7 < found / rate(json.loads(capsys.readouterr().out)) < 0.8  # 222 of 300 MHz


def test_explore_does_not_put_a_clock_first_that_a_full_device_misses():
    space = Space(unroll=(128,), clock_mhz=(200.0, 300.0, 500.0), ports=(16,), overlap_outer=(True,))
    found = explore(SCAN, load("u280_hbm"), space, uncertainty=True)
    assert max(design.config.clock_mhz for design in found.designs) <= 222
    first = next(design for design in found.designs if design.on_front)
    assert first.rate_range.low < first.rate / 1.2


def test_the_clock_is_named_as_a_part_of_the_range(capsys):
    assert fpga(["project", "--snps", "3000", "--grid", "20", "--board", "u280_hbm"]) == 0
    shown = capsys.readouterr().out
    assert "built for 250 MHz in 3 regions, reaches 222 (147-250) MHz" in shown  # 300 would bring no more
    assert "clock_mhz (250 to 147 MHz)" in shown
