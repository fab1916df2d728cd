"""Figures of Yosys: they are what Yosys gives, and estimates go through them."""

from __future__ import annotations

import dataclasses
import json
import shutil
from pathlib import Path

import pytest

from hls_model import Config, Memory, ModelError, load
from hls_model.boards import KINDS, Amount
from hls_model.cli import main
from hls_model.errors import ModelInputError
from hls_model.operators import Latencies
from hls_model.resources import METHODS, Resources
from hls_model.resources import estimate as estimate_by
from hls_model.resources.bottom_up import PER_LANE
from hls_model.resources.engines import engine_parts
from hls_model.resources.synthesis import LARGEST_LANES, compare, differences
from hls_model.rtl import yosys

MADE, FIGURES = yosys.read_figures()
SHARED = sorted(
    (one.values["P"], one.amount) for one in FIGURES if one.without == "lane" and one.values["BUFFER_BITS"] == 10
)
needs_yosys = pytest.mark.skipif(shutil.which("yosys") is None, reason="yosys is not installed")
TOLERANCE = 0.1  # of LUTs and flip-flops, for a version of Yosys other than that of the figures


def figure(top: str, parameters: str = "") -> yosys.Synthesis:
    (found,) = [one for one in FIGURES if (one.top, one.parameters) == (top, parameters)]
    return found


def at(lanes: int) -> Config:
    """A design of the U200 with a port beat as wide as a beat."""
    return Config(unroll=lanes, rs_buffer_words=1024 * lanes, memory=Memory(port_bits=32 * lanes, ports=1))


def estimate(config: Config) -> Resources:
    return estimate_by(config, "yosys", pipelines_only=True)


def lane(config: Config) -> Amount:
    wanted = {name.upper(): cycles for name, cycles in vars(config.latencies).items()}
    (found,) = [one for one in FIGURES if one.top == "lane" and one.values == wanted]
    return found.amount


def plus(one: Amount, other: Amount, times: int) -> Amount:
    return one + other.times(times)


@needs_yosys
@pytest.mark.parametrize(("top", "parameters"), [("u32_mul", "LATENCY=2"), ("fp32_key", "")])
def test_figures_are_what_yosys_gives(top: str, parameters: str) -> None:
    kept = figure(top, parameters)
    now = yosys.rerun(dataclasses.replace(kept, logic=0, ff=0, dsp=0))
    if MADE.startswith(yosys.version()):
        assert now == kept
    for kind in KINDS:
        assert getattr(now.amount, kind) == pytest.approx(getattr(kept.amount, kind), rel=TOLERANCE)


def test_figures_cover_what_they_should() -> None:
    assert MADE.startswith("Yosys ")
    assert yosys.SYNTHESIS in MADE
    assert {1, 4, 16} <= {lanes for lanes, _ in SHARED}
    assert {one.top for one in FIGURES} == {path.stem for path in yosys.FOLDER.glob("*.v")} - {"delay"}
    lanes = {tuple(one.values.values()) for one in FIGURES if one.top == "lane"}
    for mhz in (100.0, 250.0):
        assert tuple(vars(Config(clock_mhz=mhz).latencies).values()) in lanes
    assert all(len(one) == len(dataclasses.fields(Latencies)) for one in lanes)
    assert all(one.small <= one.logic for one in FIGURES)


@pytest.mark.parametrize(("lanes", "shared"), SHARED)
def test_estimates_go_through_what_was_synthesised(lanes: int, shared: Amount) -> None:
    config = at(lanes)
    assert estimate(config).total == plus(shared, lane(config), lanes)
    assert estimate_by(config, "yosys").parts == estimate(config).parts + engine_parts(config)


def test_a_lane_kept_whole_costs_little_more_than_a_flat_design() -> None:
    """4 lanes in one piece: 39,179 LUT; with the lane as a module of its own: 40,229."""
    (flat,) = [one.amount for one in FIGURES if one.top == "omega_top" and not one.without]
    apart = estimate(at(4)).total
    assert (apart.ff, apart.dsp, apart.bram18k) == (flat.ff, flat.dsp, flat.bram18k)
    assert (flat.lut, apart.lut) == (39_179, 40_229)


def test_estimates_between_lie_on_a_line_and_beyond_are_named() -> None:
    (one, low), (two, high) = SHARED[1:3]
    middle = (one + two) // 2
    shared = estimate(at(middle)).parts[1]
    assert shared.name == "all but the lanes"
    assert low.lut < shared.each.lut < high.lut
    share = (middle - one) / (two - one)
    assert shared.each.lut == pytest.approx(low.lut + share * (high.lut - low.lut), abs=1)
    beyond = estimate(at(LARGEST_LANES)).parts[1]
    assert beyond.name == "all but the lanes (extrapolated)"
    assert beyond.each.lut > SHARED[-1][1].lut


def test_a_deeper_buffer_takes_its_blocks() -> None:
    shallow, deep = (estimate(at(16).but(rs_buffer_words=16 * words)).total for words in (1024, 1025))
    assert (deep.bram18k, deep.lut) == (2 * shallow.bram18k, shallow.lut)
    (measured,) = [one.amount for one in FIGURES if one.values.get("BUFFER_BITS") == 11]
    assert estimate(load("zcu102")).parts[1].each == measured
    assert measured.bram18k <= 2 * estimate(at(4)).total.bram18k


@pytest.mark.parametrize(
    ("config", "message"),
    [
        (at(65), "no 65 lanes; it goes to 64"),
        (at(4).but(rs_prefetch="none"), "no rs_prefetch none"),
        (at(4).but(memory=Memory(port_bits=256, ports=1)), "no port beat that is wider or narrower"),
        (at(4).but(memory=Memory(port_bits=128, ports=1, fifo_beats=65)), "no memory.fifo_beats 65; it goes to 64"),
        (at(4).but(clock_mhz=300.0), "has no lane of these latencies"),
        (load("u280_hbm"), "no 128 lanes"),
    ],
)
def test_other_designs_are_refused(config: Config, message: str) -> None:
    with pytest.raises(ModelError, match=message):
        estimate(config)


def test_parts_of_a_lane_add_up_by_both_methods() -> None:
    config = load("u200")
    *parts, whole = compare(config)
    assert whole.yosys == lane(config)
    for kind in KINDS:
        for method in ("bottom_up", "yosys"):
            assert sum(getattr(getattr(each, method), kind) for each in parts) == getattr(getattr(whole, method), kind)
    assert [each.count for each in parts[:-1]] == list(PER_LANE.values())
    per_lane = [part for part in METHODS["bottom-up"](config) if part.count % 32 == 0 and "bank" not in part.name]
    assert whole.bottom_up.lut == sum(part.total.lut for part in per_lane) / 32
    assert len(differences(config)) == 7
    assert compare(load("zcu102")) == ()


def test_command_shows_both(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["resources"]) == 0
    text = capsys.readouterr().out
    assert MADE in text
    assert "- dividers: " in text
    assert main(["resources", "--json"]) == 0
    record = json.loads(capsys.readouterr().out)
    assert record["yosys"]["total"] == vars(estimate(load("u200")).total)
    assert main(["resources", "--board", "u250", "--unroll", "32"]) == 0
    assert "Yosys: no figures for this design (the synthesis by Yosys has no " in capsys.readouterr().out


@needs_yosys
def test_command_compares_with_a_new_synthesis(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    kept = figure("u32_mul", "LATENCY=2")
    monkeypatch.setattr(yosys, "read_figures", lambda: (MADE, (kept,)))
    monkeypatch.setattr(yosys, "rerun", lambda one: kept)
    assert main(["resources", "--live"]) == 0
    assert "1 parts synthesised, 0 differ" in capsys.readouterr().out
    monkeypatch.setattr(yosys, "rerun", lambda one: dataclasses.replace(kept, ff=kept.ff + 1))
    assert main(["resources", "--live"]) == 1
    caught = capsys.readouterr()
    assert f"{kept.ff} -> {kept.ff + 1}" in caught.out
    assert "1 differ from the figures kept: u32_mul LATENCY=2" in caught.err


def test_figures_are_written_as_they_are_read(tmp_path: Path) -> None:
    table = tmp_path / "table.csv"
    yosys.write_figures(MADE, FIGURES, table)
    assert table.read_text() == yosys.FIGURES.read_text()
    for number, text in enumerate(["", "# x\na,b\n", table.read_text() + "lane,,,1\n", table.read_text() + "l,,,x\n"]):
        damaged = tmp_path / f"{number}.csv"
        damaged.write_text(text)
        with pytest.raises(ModelInputError, match="table of synthesis"):
            yosys.read_figures(damaged)


@pytest.mark.parametrize("action", ["--live", "--update"])
@pytest.mark.parametrize(
    "words",
    [["--board", "zcu102"], ["--unroll", "4"], ["--set", "ii=2"], ["--method", "paper-calibrated"], ["--sources"],
     ["--plot", "a.png"]],
)  # fmt: skip
def test_a_synthesis_takes_no_option_that_it_would_leave_aside(
    action: str, words: list[str], capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["resources", action, *words]) == 2
    assert f"{action} synthesises all parts with figures, whatever the design; leave {words[0]} out" in (
        capsys.readouterr().err
    )


def test_missing_and_failing_yosys_are_one_line(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(shutil, "which", lambda name: None)
    assert main(["resources", "--live"]) == 2
    caught = capsys.readouterr()
    assert "yosys is not installed" in caught.err
    assert caught.err.count("\n") == 1
    monkeypatch.setattr(shutil, "which", lambda name: "false")
    with pytest.raises(ModelError, match="the synthesis failed: exit status 1"):
        yosys.rerun(FIGURES[0])
