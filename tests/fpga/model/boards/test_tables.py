"""Boards of a design's file: what they hold decides, what is wrong is refused in one line."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from helpers.fpga_command import fpga

from hls_model import ModelError, load
from hls_model.resources import estimate, largest_unroll

BOARD = """
preset = "u200"
unroll = 8
[board]
name = "lab"
device = "XCKU15P"
banks = 1
bank_gib = 8
ports = 1
latency_ns = [180, 240, 400]
regions = [{name = "die", available = {bram18k = 1968, dsp = 1968, ff = 1045440, lut = 522720}, shell = {lut = 60000}}]
[board.sources.latency_ns]
document = "our bench"
url = "https://example.org/bench"
"""


def written(folder: Path, text: str) -> str:
    path = folder / "mine.toml"
    path.write_text(text)
    return str(path)


def test_a_board_of_a_file_is_the_one_that_counts(tmp_path, capsys):
    name = written(tmp_path, BOARD)
    design = load(name)
    board = design.hardware
    assert (design.board, board.name, board.memory_bytes, board.available.lut) == ("lab", "lab", 8 << 30, 522_720)
    assert (design.memory.ports, design.memory.banks, design.latency) == (1, 1, 60)
    assert str(board.sources["latency_ns"]) == "our bench https://example.org/bench"
    assert "given in" in board.sources["banks"].note
    assert board.sources["host_gbps"].note.startswith("as the Alveo U200's, which is Vitis")
    assert estimate(design).board is board
    assert 0 < largest_unroll(design) < largest_unroll(load("u200"))
    words = ["--board", name, "--json"]
    assert fpga(["project", *words, "--snps", "2000", "--samples", "50", "--grid", "10"]) == 0
    (found,) = json.loads(capsys.readouterr().out)["projections"]
    assert [region["name"] for region in found["regions"]] == ["die"]
    assert hash(design) == hash(load(name))
    assert design == load(name) != load("u200")
    for command in ("resources", "curve", "roofline", "report", "trace"):
        assert fpga([command, *words]) == 0
        capsys.readouterr()
    assert fpga(["explore", *words, "--snps", "500", "--grid", "3", "--unrolls", "4,8"]) == 0


def test_prices_and_arrays_know_a_board_of_a_file(tmp_path, capsys):
    name = written(tmp_path, BOARD)
    words = ["project", "--board", name, "--compare", "u200", "--snps", "500", "--grid", "3", "--json"]
    costs = []
    for price in (f"{name}=2", "lab=2"):
        assert fpga([*words, "--price-per-hour", price, "--price-per-hour", "1"]) == 0
        found = json.loads(capsys.readouterr().out)
        assert found["cost"]["per_hour"] == {"lab": 2.0, "": 1.0}
        costs.append(found["cost"]["million"]["mine"])
    assert costs[0] == costs[1]
    assert fpga([*words, "--price-per-hour", f"{name}=2"]) == 2
    assert "no price for u200; add u200=PRICE" in capsys.readouterr().err
    assert fpga([*words, "--price-per-hour", f"{name}=2", "--price-per-hour", "lab=3"]) == 2
    assert "two prices of lab" in capsys.readouterr().err
    plain = ["project", "--snps", "500", "--grid", "3", "--price-per-hour", "1"]
    assert fpga([*plain, "--price-per-hour", f"{name}=2", "-o", name]) == 2  # it is read
    assert Path(name).read_text() == BOARD
    capsys.readouterr()
    assert fpga(["sdtw", "--board", name, "--pes", "500", "--json"]) == 0
    found = json.loads(capsys.readouterr().out)
    assert found["array"]["board"] == "lab"
    assert [region["name"] for region in found["regions"]] == ["die"]
    assert fpga(["sdtw", "--board", name, "--set", "reference=memory", "--set", "row=memory"]) == 2
    assert "lab has 1 ports" in capsys.readouterr().err
    for board, device in (("u280_hbm", "u280"), ("asic", "asic")):
        assert fpga(["sdtw", "--board", board, "--json"]) == 0
        assert json.loads(capsys.readouterr().out)["array"]["board"] == device
    assert fpga(["sdtw", "--board", "u999"]) == 2
    assert "'u999' is no known board or design" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("line", "said"),
    [
        ("bank = 2", "board.bank is no figure of a board; there are base, name, "),
        ("available = 3", "board.available is no figure"),
        ("latency_ns = [3, 2, 1]", "board.latency_ns has to be one number, or a list of the least, the likely"),
        ("latency_ns = 0", "board.latency_ns is 0; it has to be a number above 0"),
        ("efficiency_range = 1.5", "board.efficiency_range is 1.5; it has to be a number above 0, 1 at most"),
        ("ports = true", "board.ports is True; it has to be a whole number"),
        ("bank_gib = nan", "board.bank_gib is nan; it has to be a number"),
        (f"bank_gib = 0x{'f' * 5000}", "board.bank_gib is a number of thousands of digits; it has to be a number"),
        ("title = 3", "board.title is 3; it has to be a text"),
        ('name = "u250"', "board.name is u250, which is a known board"),
        ("base = 3", "board.base is no text"),
        ('base = "u999"', "board 'u999' is not known"),
        ("regions = []", "board.regions is []; it has to be a list"),
        ('regions = [{name = "a"}]', "board.regions[0] has to be a table with name, available"),
        ('regions = [{name = "a", available = {luts = 3}}]', "board.regions[0].available has to be a table of bram18k"),
        ('regions = [{name = "a", available = {lut = 3}}]', "board.regions hold no bram18k"),
        ('regions = [{name = "a", available = {lut = 3}, shell = {lut = 4}}]', "the shell takes more of a than"),
        ("port_bits = 100", "board.port_bits is 100; it has to be a power of two"),
        ("max_clock_mhz = 20", "board.clock_mhz is 250; board.max_clock_mhz is 20"),
        ("max_watts = 20", "board.idle_watts is up to 58; board.max_watts is 20"),
        ("sources = 3", "board.sources has to be a table"),
        ("sources = {memory = {note = 'x'}}", "board.sources.memory is no figure with a source"),
        ("sources = {banks = {document = 'x'}}", "source 'x' needs an address"),
    ],
)
def test_what_is_wrong_with_a_board_is_told(tmp_path, line, said):
    name = written(tmp_path, f"[board]\n{line}\n")
    with pytest.raises(ModelError) as refusal:
        load(name)
    assert str(refusal.value).startswith(f"{name}: ")
    assert said in str(refusal.value)
    assert "\n" not in str(refusal.value)
