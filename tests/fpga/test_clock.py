"""Clocks: they fall with fill and with borders between dies, and a faster clock asked for makes no scan slower."""

from __future__ import annotations

import itertools

import pytest

from hls_model import Workload, load
from hls_model.cli import main
from hls_model.clock import builds, reached_clock
from hls_model.explore import Space, explore
from hls_model.project import project

SCAN = Workload.uniform(3_000, samples=100, grid=20)
ENDS = ("low", "likely", "high")
CLOCKS = (100.0, 101.0, 175.0, 176.0, 249.0, 250.0, 251.0, 253.0, 262.5, 275.0, 276.0, 300.0, 301.0, 400.0, 500.0)


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
    rates = [project(SCAN, design.but(clock_mhz=clock)).rate_range for clock in CLOCKS]
    for end in ENDS:
        values = [getattr(rate, end) for rate in rates]
        for slower, faster in itertools.pairwise(values):
            assert faster >= slower * 0.99  # a column's wait for memory is rounded up to a cycle of a hundred or more
        around = values[CLOCKS.index(249.0) : CLOCKS.index(251.0) + 1]
        for slower, faster in itertools.pairwise(around):
            assert faster >= slower * 0.9995
        if board == "u200":
            assert around == sorted(around)


def test_explore_does_not_put_a_clock_first_that_a_full_device_misses():
    space = Space(unroll=(128,), clock_mhz=(200.0, 300.0, 500.0), ports=(16,), overlap_outer=(True,))
    found = explore(SCAN, load("u280_hbm"), space, uncertainty=True)
    assert max(design.config.clock_mhz for design in found.designs) <= 222
    first = next(design for design in found.designs if design.on_front)
    assert first.rate_range.low < first.rate / 1.2


def test_the_clock_is_named_as_a_part_of_the_range(capsys):
    assert main(["project", "--snps", "3000", "--grid", "20", "--board", "u280_hbm"]) == 0
    shown = capsys.readouterr().out
    assert "built for 250 MHz in 3 regions, reaches 222 (147-250) MHz" in shown  # 300 would bring no more
    assert "clock_mhz (250 to 147 MHz)" in shown
