"""Placement: what fits does fit region by region, found again by brute force, and what does not says by what."""

from __future__ import annotations

import dataclasses
import itertools
import json

import pytest
from helpers.fpga_command import fpga
from hypothesis import given, strategies as st

from hls_model import ModelError, load
from hls_model.boards import BOARDS, KINDS, Amount, Region, find_board
from hls_model.resources import METHODS, check_fits, estimate, estimates, largest_unroll
from hls_model.resources.engines import engine_parts
from hls_model.resources.placement import place

amounts = st.tuples(*[st.integers(0, 9)] * 4).map(lambda counts: Amount(*counts))
lane_amounts = amounts.filter(lambda amount: amount != Amount())
regions = st.lists(st.tuples(amounts, amounts), min_size=1, max_size=3)


def board_of(pairs):
    """Return a board of small regions, each of (room for the design, shell), all of the room placeable."""
    made = tuple(Region(f"R{index}", room + shell, shell) for index, (room, shell) in enumerate(pairs))
    return dataclasses.replace(find_board("u200"), regions=made, placeable=dict.fromkeys(KINDS, 1.0))


def fits_by_brute_force(rooms, lane, lanes, parts):
    """Try every region for every part, then count the lanes that each region still takes one by one."""
    for choice in itertools.product(range(len(rooms)), repeat=len(parts)):
        free = [[getattr(room, kind) for kind in KINDS] for room in rooms]
        for part, where in zip(parts, choice, strict=True):
            free[where] = [have - getattr(part, kind) for have, kind in zip(free[where], KINDS, strict=True)]
        if any(have < 0 for left in free for have in left):
            continue
        count = 0
        for left in free:
            while count < lanes and all(have >= getattr(lane, kind) for have, kind in zip(left, KINDS, strict=True)):
                left[:] = [have - getattr(lane, kind) for have, kind in zip(left, KINDS, strict=True)]
                count += 1
        if count >= lanes:
            return True
    return False


@given(regions, lane_amounts, st.integers(0, 12), st.lists(amounts, max_size=4))
def test_what_is_placed_fits_every_region_and_what_fits_nowhere_is_refused(pairs, lane, lanes, parts):
    found = place(board_of(pairs), lane, lanes, parts)
    for occupied, (room, _) in zip(found.regions, pairs, strict=True):
        assert occupied.used.within(room)
    placed = sum(occupied.lanes for occupied in found.regions)
    assert placed + found.left_lanes == lanes
    if not found.short:
        used = sum((occupied.used for occupied in found.regions), Amount())
        assert used == sum(parts, lane.times(lanes))
    if not fits_by_brute_force([room for room, _ in pairs], lane, lanes, parts):
        assert found.short


@given(regions, lane_amounts, st.integers(0, 12))
def test_lanes_alone_are_placed_wherever_brute_force_places_them(pairs, lane, lanes):
    fits = fits_by_brute_force([room for room, _ in pairs], lane, lanes, [])
    assert fits == (not place(board_of(pairs), lane, lanes, []).short)


def test_a_lane_is_not_cut_by_a_border():
    halves = [(Amount(3, 3, 3, 3), Amount())] * 2
    found = place(board_of(halves), Amount(lut=2), 3, [])
    assert [occupied.lanes for occupied in found.regions] == [1, 1]
    assert (found.left_lanes, found.short) == (1, ("lut",))


def test_a_design_that_one_region_holds_is_not_spread():
    resources = check_fits(load("u200"))
    first, *others = resources.placement.regions
    assert (first.lanes, first.used) == (32, resources.total)
    assert all((occupied.lanes, occupied.used) == (0, Amount()) for occupied in others)


def test_a_part_goes_where_it_costs_no_lane():
    board = board_of([(Amount(bram18k=4, lut=10), Amount()), (Amount(bram18k=4, lut=4), Amount())])
    found = place(board, Amount(bram18k=2, lut=5), 2, [Amount(bram18k=3)])
    assert [occupied.lanes for occupied in found.regions] == [2, 0]
    assert found.regions[1].used == Amount(bram18k=3)
    assert not found.short


def test_large_parts_go_first():
    """In the order of their sizes the two small ones would take a region each."""
    board = board_of([(Amount(lut=3), Amount())] * 2)
    parts = [Amount(lut=1), Amount(lut=1), Amount(lut=3)]
    found = place(board, Amount(lut=1), 0, parts)
    assert not found.short
    assert sorted(occupied.used.lut for occupied in found.regions) == [2, 3]


def test_lanes_fill_the_roomiest_region_first():
    board = board_of([(Amount(lut=2), Amount()), (Amount(lut=5), Amount())])
    assert [occupied.lanes for occupied in place(board, Amount(lut=1), 6, []).regions] == [1, 5]


def test_every_kind_that_is_too_little_is_named():
    board = board_of([(Amount(4, 4, 4, 4), Amount())])
    assert place(board, Amount(dsp=3, lut=2), 3, []).short == ("dsp", "lut")


def test_engines_are_no_part_of_a_lane(monkeypatch):
    """256 units of the LD engine are 8 for each of 32 lanes, but go wherever there is room."""
    asked = []
    monkeypatch.setattr(estimates, "place", lambda board, lane, lanes, parts: asked.append((lane, lanes, parts)))
    design = load("u200")
    assert design.ld_units % design.lanes == 0
    for pipelines_only in (False, True):
        assert estimate(design, pipelines_only=pipelines_only).placement is None
    (lane, lanes, parts), (same, _, fewer) = asked
    assert (lane, lanes) == (same, 32)
    engines = sum((part.total for part in engine_parts(design)), Amount())
    assert sum(parts, Amount()) == sum(fewer, engines)


@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize("name", ["zcu102", "u200", "u250", "u280_hbm"])
def test_the_largest_unroll_leaves_the_shell_and_the_guidelines_alone(name, method):
    roomy = dataclasses.replace(load(name).memory, fifo_beats=512)
    design = load(name).but(memory=roomy, rs_buffer_words=1_024)
    most = design.but(unroll=largest_unroll(design, method))
    resources = check_fits(most, method)
    with pytest.raises(ModelError, match=f"the largest unroll that fits is {most.unroll}$"):
        check_fits(design.but(unroll=most.unroll + 1), method)
    board = BOARDS[most.board]
    for occupied, region in zip(resources.placement.regions, board.regions, strict=True):
        for kind in KINDS:
            left = getattr(region.available, kind) - getattr(region.shell, kind)
            assert getattr(occupied.used, kind) <= board.placeable[kind] * left


def test_a_design_that_the_bare_device_would_hold_is_refused():
    design = load("zcu102").but(unroll=80, ld="published", host_transfer="full")
    resources = estimate(design)
    assert resources.total.within(resources.board.available)
    with pytest.raises(
        ModelError, match=r"of which 191,856 can be placed \(70 %\); the largest unroll that fits is 60$"
    ):
        check_fits(design)


def test_the_shell_is_named_where_there_is_one():
    design = load("u200").but(unroll=256)
    with pytest.raises(ModelError) as caught:
        check_fits(design)
    left = sum(region.available.lut - region.shell.lut for region in find_board("u200").regions)
    assert f"u200 has 1,182,240, of which the shell leaves {left:,} and " in str(caught.value)
    assert "\n" not in str(caught.value)


def test_the_command_shows_each_region(capsys):
    assert fpga(["resources", "--board", "u280_hbm"]) == 0
    shown = capsys.readouterr().out
    assert fpga(["resources", "--board", "u280_hbm", "--json"]) == 0
    record = json.loads(capsys.readouterr().out)
    assert sum(region["lanes"] for region in record["regions"]) == record["lanes"] == 128
    for kind in KINDS:
        assert sum(region["used"][kind] for region in record["regions"]) == record["total"][kind]
        for region in record["regions"]:
            assert region["used"][kind] <= region["placeable"][kind] < region["available"][kind] - region["shell"][kind]
            assert f"{region['placeable'][kind]:,}" in shown
