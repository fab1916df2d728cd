"""The formula to reason with: the cycles of level L1 where it says that it holds, and never more."""

from __future__ import annotations

import dataclasses
import json

import pytest
from helpers.fpga_command import fpga
from helpers.pipeline_oracle import designs
from hypothesis import given, settings, strategies as st

from hls_model import PRESETS, Config, Workload, load, simulate
from hls_model.curve import throughput_curve
from hls_model.formula import Formula
from hls_model.paper.published import as_simulated


def cycles_of(config: Config, left: int, right: int) -> int:
    timing = simulate(Workload.single(left, right), config)
    return timing.cycles - int(timing.phases["overhead"].sum())


@settings(max_examples=300, deadline=None)
@given(designs(), st.integers(0, 8), st.integers(0, 400))
def test_it_is_never_too_much_and_exact_where_it_holds(config: Config, left: int, right: int) -> None:
    formula = Formula(config)
    found, cycles = formula.cycles(left, right), cycles_of(config, left, right)
    assert found <= cycles
    if formula.holds(left, right):
        assert found == cycles


@settings(max_examples=200, deadline=None)
@given(
    st.builds(
        lambda name, latency, length, under_way, **changes: load(name).but(
            memory=dataclasses.replace(
                load(name).memory, latency_ns=latency, burst_length=length, outstanding=under_way, efficiency=1.0
            ),
            **changes,
        ),
        name=st.sampled_from(["u200", "zcu102", "u280_hbm"]),
        latency=st.floats(10, 900),
        length=st.integers(1, 40),
        under_way=st.integers(1, 20),
        ii=st.integers(1, 3),
        fsm_cycles=st.integers(1, 4),
        overlap_outer=st.booleans(),
        remainder=st.sampled_from(["software", "masked"]),
    ),
    st.integers(1, 9),
    st.integers(1, 6_000),
)
def test_borders_of_where_it_holds(config: Config, left: int, right: int) -> None:
    """Bursts that just hide the latency, or just do not, on designs whose ports bring a beat in every cycle."""
    formula = Formula(config)
    found, cycles = formula.cycles(left, right), cycles_of(config, left, right)
    assert found <= cycles
    if formula.holds(left, right):
        assert found == cycles


@pytest.mark.parametrize("name", PRESETS)
def test_it_holds_for_presets_whose_memory_keeps_up(name: str) -> None:
    """Port beats of u200_resources16 feed two beats of lanes; banks of the U250 and Agilex 7 are slower than ports."""
    config = load(name)
    assert Formula(config).holds(1_000, 4_096) == (name not in ("u200_resources16", "u250", "agilex7"))
    if name not in ("u250", "agilex7"):
        assert Formula(config).cycles(1_000, 4_096) == cycles_of(config, 1_000, 4_096)


def test_the_numbers_of_the_page() -> None:
    u200 = Formula(load("u200"))
    assert u200.overhead == 58 + 37 + 1 == 96
    assert u200.right_for(0.9) == pytest.approx(9 * 32 * 96) == 27_648
    assert u200.cycles(10, 32 * 81) == (58 + 81 + 1) + 10 * (81 + 96) + 32
    simulated = Formula(as_simulated(load("u200")))
    assert simulated.overhead == 64 + 37 + 1
    assert Formula(load("zcu102")).right_for(0.9) == pytest.approx(9 * 4 * Formula(load("zcu102")).overhead)


@pytest.mark.parametrize(("name", "most"), [("u200", 30_500), ("zcu102", 4_500)])
def test_the_rate_of_a_column_is_that_of_the_curve(name: str, most: int) -> None:
    config = load(name)
    found = throughput_curve(config, most)
    formula = Formula(config)
    assert formula.rate(round(formula.right_for(0.9))) == pytest.approx(0.9 * config.ideal_rate, rel=0.001)
    assert found.crossing is not None
    assert found.crossing == pytest.approx(formula.right_for(0.9), rel=0.02)
    for right, rate in zip(found.right[::50], found.rate[::50], strict=True):
        whole = int(right) - int(right) % config.unroll
        assert rate == pytest.approx(formula.rate(whole), rel=0.01)
    overlap = Formula(config.but(overlap_outer=True))
    assert overlap.rate(100) == config.ideal_rate
    assert overlap.right_for(0.9) == 0


def test_the_command_shows_it(capsys: pytest.CaptureFixture[str]) -> None:
    assert fpga(["timing"]) == 0
    out = capsys.readouterr().out
    assert "\ntotal            127,122 cycles\n" in out
    assert "\nformula          127,122 cycles exactly\n" in out
    assert "left x (31 II + 96) + merge; M 58, D 37, Z 1, II 1" in out
    slow = ["timing", "--board", "u280_hbm", "--set", "memory.outstanding=2", "--right", "9000"]
    assert fpga(slow) == 0
    assert "cycles at least: memory does not bring" in capsys.readouterr().out
    assert fpga([*slow, "--json"]) == 0
    record = json.loads(capsys.readouterr().out)
    assert record["formula"]["holds"] is False
    assert record["formula"]["cycles"] < record["cycles"]
