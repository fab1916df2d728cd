"""Boards: regions add up to their devices, limits lie in order, and every figure says where it comes from."""

from __future__ import annotations

import dataclasses
import json

import pytest
from helpers.fpga_command import fpga
from hypothesis import given, strategies as st

from hls_model.boards import ASSUMED, BOARDS, KINDS, Amount, Board, Region, Source
from hls_model.errors import ModelError
from hls_model.extras.sdtw.design import SystolicArray
from hls_model.presets import load
from hls_model.ranges import Range
from hls_model.roofline import banks_gbps
from hls_model.uncertainty import unknowns

NAMES = {
    "name",
    "title",
    "device",
    "memory",
    "host_link",
    "clock_limit",
    "sources",
}  # words, and the sources themselves
ALL = pytest.mark.parametrize("board", BOARDS.values(), ids=BOARDS)

# Totals of the devices, kept apart from the regions that are to add up to them: BRAM18K, DSP, FF, LUT.
DEVICES = {
    "zcu102": (1_824, 2_520, 548_160, 274_080),
    "u200": (4_320, 6_840, 2_364_480, 1_182_240),
    "u250": (5_376, 12_288, 3_456_000, 1_728_000),
    "u280": (4_032, 9_024, 2_607_360, 1_303_680),
    "u50": (2_688, 5_952, 1_743_360, 871_680),
    "u55c": (4_032, 9_024, 2_607_360, 1_303_680),
    "vck190": (1_934, 1_968, 1_799_680, 899_840),
    "v80": (7_482, 10_848, 5_148_416, 2_574_208),
    "agilex7": (13_272, 8_528, 3_651_200, 912_800),
    "f2": (4_032, 9_024, 2_607_360, 1_303_680),
}

CAPACITY = {
    "zcu102": 4, "u200": 64, "u250": 64, "u280": 8, "u50": 8, "u55c": 16, "vck190": 8, "v80": 32,
    "agilex7": 16, "f2": 16,
}  # fmt: skip  # GiB of the memory that kernels read


@ALL
def test_every_figure_has_a_source(board):
    figures = {field.name for field in dataclasses.fields(Board)} - NAMES
    assert set(board.sources) == figures
    for name, source in board.sources.items():
        if source.document == ASSUMED:
            assert source.note, name
            assert not source.url, name
        else:
            assert source.url.startswith("https://"), name


@ALL
def test_regions_add_up_to_the_device(board):
    total = [sum(getattr(region.available, kind) for region in board.regions) for kind in KINDS]
    assert tuple(total) == DEVICES[board.name]
    assert board.available == Amount(*DEVICES[board.name])
    assert len({region.name for region in board.regions}) == len(board.regions)


@ALL
def test_room_is_less_than_what_the_shell_leaves(board):
    for region in board.regions:
        for kind in KINDS:
            left = getattr(region.available, kind) - getattr(region.shell, kind)
            room = getattr(board.room(region), kind)
            assert 0 < room <= board.placeable[kind] * left < left
            assert room + 1 > board.placeable[kind] * left


@ALL
def test_limits_are_in_order(board):
    assert board.clock_mhz <= board.max_clock_mhz
    assert 0 < board.efficiency_range.low <= board.efficiency == board.efficiency_range.likely
    assert board.efficiency_range.high <= 1
    assert board.static_watts.high < board.idle_watts.low
    assert board.idle_watts.high < board.max_watts
    assert board.peak_gbps == pytest.approx(board.banks * board.bank_gbps)
    assert board.memory_bytes == board.bytes_of(board.banks) == CAPACITY[board.name] << 30
    assert board.bytes_of(1) * board.banks == board.memory_bytes
    for name in ("latency_ns", "host_gbps", "launch_us", "static_watts", "idle_watts", "memory_pj_per_bit"):
        figure = getattr(board, name)
        assert isinstance(figure, Range)
        assert figure.low > 0


def test_banks_of_a_board_may_give_less_together_than_alone(tmp_path):
    design = load("u50")
    assert design.efficiency_range == design.hardware.efficiency_range  # eight of its channels
    for ports, low, likely in ((16, 201 / 230.4, 0.92), (32, 201 / 460.8, 316 / 460.8)):
        memory = dataclasses.replace(design.memory, ports=ports, banks=ports)
        found = design.but(memory=memory)
        bounds = found.efficiency_range
        assert (bounds.low, bounds.likely) == pytest.approx((min(0.8, low), likely))
        assert bounds.high == 0.93
        assert banks_gbps(found) == pytest.approx(ports * 14.4 * likely)
        assert next(one for one in unknowns(found) if one.name == "memory.efficiency").values == bounds
        assert found.but(memory=dataclasses.replace(memory, efficiency=0.9)).efficiency == 0.9
    array = SystolicArray(board="u50", pes=100, reference="memory", row="memory", arrays=16)
    assert array.efficiency_range.likely == pytest.approx(316 / 460.8)
    assert BOARDS["v80"].efficiency_of(64).low == pytest.approx(460 / 819.2)
    assert BOARDS["v80"].efficiency_of(32).low == 0.8
    own = tmp_path / "own.toml"
    for line, total in (
        ("banks = 4", None),
        ("bank_gib = 1", BOARDS["u50"].total_gbps),
        ("total_gbps = 99", Range(99, 99, 99)),
    ):
        own.write_text(f'preset = "u50"\n[board]\n{line}\n')
        assert load(own).hardware.total_gbps == total


def test_a_source_is_a_document_with_an_address_or_an_assumption_with_a_reason():
    for wrong in ({"document": "DS962"}, {"document": ASSUMED, "url": "https://x"}, {"document": ASSUMED}):
        with pytest.raises(ModelError):
            Source(**wrong)
    shown = str(Source("DS925", "https://docs.amd.com/ds925", "775 MHz"))
    assert shown == "DS925: 775 MHz https://docs.amd.com/ds925"


def test_a_shell_larger_than_its_region_is_refused():
    with pytest.raises(ModelError, match="more of SLR0 than it holds"):
        Region("SLR0", Amount(1, 1, 1, 1), Amount(lut=2))


@given(st.lists(st.integers(0, 10**6), min_size=8, max_size=8))
def test_amounts_subtract_as_they_add(counts):
    one, two = Amount(*counts[:4]), Amount(*counts[4:])
    assert (one + two) - two == one
    assert one.within(one + two)
    assert (one + two).within(one) == (two == Amount())


@ALL
def test_the_command_shows_every_figure_and_its_source(board, capsys):
    preset = "u280_hbm" if board.name == "u280" else board.name
    assert fpga(["resources", "--board", preset, "--sources"]) == 0
    shown = capsys.readouterr().out
    assert fpga(["resources", "--board", preset, "--sources", "--json"]) == 0
    figures = json.loads(capsys.readouterr().out)["board_figures"]
    assert set(figures) == set(board.sources)
    for name, source in board.sources.items():
        assert f"\n{name}: " in shown
        assert (figures[name]["document"], figures[name]["url"]) == (source.document, source.url)
        assert source.url in shown
        assert source.note in shown
    assert figures["latency_ns"]["value"] == board.latency_ns.record()
    assert figures["regions"]["value"][0]["shell"]["lut"] == board.regions[0].shell.lut
