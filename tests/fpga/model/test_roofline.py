"""Roofs, and the word for what bounds a timing."""

from __future__ import annotations

import dataclasses

import pytest
from hypothesis import given, strategies as st

from hls_model import PRESETS, Memory, Workload, change, load, simulate
from hls_model.paper.published import as_simulated
from hls_model.phases.bottleneck import find_bottleneck
from hls_model.roofline import banks_gbps, ports_gbps, roofline

SCAN = Workload.uniform(13_000)


def test_ports_and_banks_of_the_paper():
    assert ports_gbps(load("zcu102")) == pytest.approx(1.6)  # one 128-bit port at 100 MHz
    assert ports_gbps(load("u200")) == pytest.approx(32.0)  # two 512-bit ports at 250 MHz
    assert banks_gbps(as_simulated(load("u200"))) == pytest.approx(38.4)
    assert banks_gbps(load("u200")) == pytest.approx(0.84 * 38.4)


def test_a_score_takes_four_bytes_with_a_buffer_and_eight_without():
    buffered = roofline(SCAN, load("u200"))
    streamed = roofline(SCAN, load("u200").but(rs_prefetch="none"))
    assert buffered.bytes_per_omega == pytest.approx(4, rel=0.002)
    assert streamed.bytes_per_omega == 8
    assert streamed.roofs["ports"] == pytest.approx(4_000e6)
    assert roofline(SCAN, load("u200").but(rs_prefetch="per_outer")).bytes_per_omega == 8


def test_measured_banks_lie_below_the_lanes():
    found = roofline(SCAN, change(load("u200_overlap"), {"memory": {"efficiency": 0.8}, "clock_met": True}))
    assert found.binding == "banks"
    assert found.roofs["banks"] == pytest.approx(7_600e6, rel=0.005)
    assert found.share > 0.98


def test_resending_every_block_caps_at_3_billion():
    found = roofline(SCAN, load("u200").but(host_transfer="full", host_gbps=12.0))
    assert found.roofs["host link"] == pytest.approx(3.0e9, rel=0.01)
    assert found.binding == "host link"
    assert found.share == pytest.approx(1)  # the link is busy all the time
    assert "host link" not in roofline(SCAN, load("u200")).roofs
    once = roofline(SCAN, load("u200").but(host_transfer="incremental", host_gbps=12.0))
    assert once.roofs["host link"] > 100 * found.roofs["host link"] / 2


def test_a_scan_of_nothing_has_the_roof_of_the_lanes():
    found = roofline(Workload.single(0, 0), load("u200"))
    assert found.roofs == {"lanes": 8_000e6}
    assert found.share == 0


@given(
    st.integers(1, 300), st.integers(1, 3_000), st.sampled_from(sorted(PRESETS)), st.booleans(),
    st.sampled_from(["per_position", "none"]), st.sampled_from(["none", "full", "incremental"]),
)  # fmt: skip
def test_no_design_lies_above_its_roofs(left, right, name, overlap, prefetch, transfer):
    config = load(name).but(overlap_outer=overlap, rs_prefetch=prefetch, host_transfer=transfer)
    found = roofline(Workload.single(left, right), config)
    # Banks lose whole cycles, counted within each column: less than a cycle a column is not lost.
    assert found.share <= 1 + 1 / max(1, right // config.unroll)


def test_words_for_what_bounds():
    u200 = load("u200")
    slow = dataclasses.replace(u200.memory, bank_gbps=2.0)
    narrow = Memory(ports=1, banks=1)
    cases = {
        "latency": u200,
        "lanes": load("zcu102"),
        "memory": u200.but(memory=slow),
        "overhead": u200.but(position_overhead_us=50_000.0),
        "prefetch": u200.but(rs_prefetch="per_outer", memory=dataclasses.replace(u200.memory, latency_ns=1600.0)),
        "software": u200.but(software_rate=1e6),
        "host link": u200.but(host_transfer="full", host_gbps=1.0),
    }
    for word, config in cases.items():
        found = find_bottleneck(simulate(SCAN, config))
        assert found is not None
        if word != "prefetch":  # as much time goes into the columns' own latency
            assert found.word == word
        assert 0 < found.share <= 1
        assert found.sentence.endswith("of the time")
        assert found.advice
    assert find_bottleneck(simulate(SCAN, u200.but(memory=narrow, overlap_outer=True))).word in ("memory", "lanes")


def test_nothing_bounds_nothing():
    assert find_bottleneck(simulate(Workload.single(0, 0), load("u200"))) is None
