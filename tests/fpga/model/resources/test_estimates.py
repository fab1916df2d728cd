"""Resources: sums of their parts, growth with the unroll, and what fits."""

from __future__ import annotations

import pytest
from hypothesis import given, strategies as st

from hls_model import PRESETS, Memory, ModelError, Operators, load
from hls_model.boards import BOARDS, KINDS, Amount, find_board
from hls_model.resources import METHODS, REPORT_ROWS, check_fits, estimate, largest_unroll
from hls_model.resources.parts import PER_LANE


@pytest.mark.parametrize("name", PRESETS)
@pytest.mark.parametrize("method", METHODS)
def test_presets_fit_their_boards(name, method):
    resources = check_fits(load(name), method)
    assert not resources.short
    assert 0 < resources.largest_share < 1


@pytest.mark.parametrize("method", METHODS)
def test_parts_add_up(method):
    resources = estimate(load("u200"), method)
    for kind in KINDS:
        assert getattr(resources.total, kind) == sum(getattr(part.each, kind) * part.count for part in resources.parts)
    assert {part.kind for part in resources.parts} <= set(REPORT_ROWS)
    rows = [resources.by_kind(row) for row in REPORT_ROWS]
    assert sum(row.lut for row in rows) == resources.total.lut


def test_a_lane_has_the_operators_of_figure_8():
    assert PER_LANE["fadd"] + PER_LANE["fsub"] == 4
    assert (PER_LANE["fdiv"], PER_LANE["i2f"], PER_LANE["imul"], PER_LANE["fcmp"]) == (3, 2, 2, 1)


def test_a_lane_more_costs_12_dsp():
    dsp = [estimate(load("u200").but(unroll=unroll)).total.dsp for unroll in (7, 8)]
    assert dsp[1] - dsp[0] == 12


def test_lanes_count_and_not_the_unroll():
    half = load("u200").but(physical_lanes=16)
    assert estimate(half).total == estimate(load("u200").but(unroll=16)).total


def test_slower_operators_hold_fewer_registers_only():
    fast, slow = (
        estimate(load("u200")),
        estimate(load("u200").but(operators=Operators(**vars(load("zcu102").latencies)))),
    )
    assert slow.total.ff < fast.total.ff
    assert slow.total.dsp == fast.total.dsp


@pytest.mark.parametrize(("words", "blocks"), [(4_608, 12), (2_048, 4), (2_049, 8), (4, 4)])
def test_rs_buffer_is_banked(words, blocks):
    parts = estimate(load("zcu102").but(rs_buffer_words=words)).parts
    assert next(part.total.bram18k for part in parts if part.name.startswith("RS buffer")) == blocks


@pytest.mark.parametrize(("bits", "ports"), [(32, Amount(4, 0, 566, 766)), (512, Amount(30, 0, 1_415, 1_585))])
def test_ports_take_what_the_reports_say(bits, ports):
    parts = estimate(load("u200").but(memory=Memory(port_bits=bits, ports=2, fifo_beats=512))).parts
    assert next(part for part in parts if part.name == f"AXI port, {bits} bit").each == ports


def test_no_buffer_where_rs_is_streamed():
    parts = estimate(load("zcu102").but(rs_prefetch="none")).parts
    assert not [part for part in parts if part.name.startswith("RS buffer")]


@pytest.mark.parametrize("board", ["zcu102", "u200"])
@pytest.mark.parametrize("method", METHODS)
def test_largest_unroll_fits_and_one_more_does_not(board, method):
    design = load(board)
    most = largest_unroll(design, method)
    wide = Memory(port_bits=design.memory.port_bits, ports=design.memory.ports, fifo_beats=1_000)
    roomy = design.but(memory=wide, rs_buffer_words=max(design.rs_buffer_words, most + 1), physical_lanes=0)
    fifo_of_its_own = largest_unroll(roomy, method)
    assert not estimate(roomy.but(unroll=fifo_of_its_own), method).short
    assert estimate(roomy.but(unroll=fifo_of_its_own + 1), method).short
    assert fifo_of_its_own <= most


def test_what_does_not_fit_is_told_in_one_line():
    design = load("zcu102").but(unroll=128)
    with pytest.raises(ModelError) as caught:
        check_fits(design)
    message = str(caught.value)
    assert "\n" not in message
    assert "274,080" in message
    assert "LUT" in message
    assert f"largest unroll that fits is {largest_unroll(design)}" in message


def test_unknown_names():
    with pytest.raises(ModelError, match="choose one of bottom-up"):
        estimate(load("u200"), "guess")
    with pytest.raises(ModelError, match="choose one of zcu102"):
        find_board("u999")
    with pytest.raises(ModelError, match="board 'other'"):
        estimate(load("u200").but(board="other"))


def test_every_preset_has_a_board():
    assert {preset.board for preset in PRESETS.values()} <= set(BOARDS)


@given(st.integers(1, 300), st.sampled_from(sorted(METHODS)))
def test_more_lanes_never_take_less_logic(unroll, method):
    memory = Memory(ports=16, fifo_beats=64)
    fewer, more = (estimate(load("u200").but(unroll=u, memory=memory), method).total for u in (unroll, unroll + 1))
    assert (more.dsp, more.ff, more.lut) > (fewer.dsp, fewer.ff, fewer.lut)
    assert more.lut > fewer.lut
    assert more.ff > fewer.ff


@given(st.lists(st.integers(0, 10**6), min_size=4, max_size=4), st.integers(0, 50))
def test_amounts_multiply_as_they_add(counts, times):
    one = Amount(*counts)
    total = Amount()
    for _ in range(times):
        total += one
    assert one.times(times) == total
