"""Ranges on the command line, and what the tables of the paper say each of their numbers is worth."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest
from helpers.fpga_command import fpga

from hls_model.presets import load
from hls_model.uncertainty import band, built_band
from hls_model.workload import Workload
from oclgenomics.cli.main import main

EDGE = Path(__file__).parents[2] / "data" / "omega" / "edge"
QUICK = ["--snps", "2000", "--grid", "30"]
WINDOWS = ["--grid", "50", "--minwin", "100", "--maxwin", "50000"]
RANGED = {
    "project": [*QUICK, "--samples", "50"],
    "curve": ["--to", "640"],
    "roofline": QUICK,
    "explore": [*QUICK, "--unrolls", "8,32", "--ports", "1,2"],
}


def printed_json(capsys, *words):
    assert fpga([*words, "--json"]) == 0
    return json.loads(capsys.readouterr().out)


@pytest.mark.parametrize("command", RANGED)
def test_ranges_are_on_and_can_be_left_out(command, capsys):
    pattern = re.compile(
        r"\d \([\d.,]+-[\d.,]+\)|\d (?!m?J|kJ)[a-zA-Z /]+ \([\d.,]+-[\d.,]+\)"
    )  # energies always have one
    for switch, ranged in (([], True), (["--uncertainty"], True), (["--no-uncertainty"], False)):
        assert fpga([command, *RANGED[command], *switch]) == 0
        out = capsys.readouterr().out
        assert ("range of omega" in out if command == "project" else bool(pattern.search(out))) == ranged
        record = printed_json(capsys, command, *RANGED[command], *switch)
        rows = record.get("projections") or [one for one in record.get("designs", []) if one["on_front"]] or [record]
        assert all((row["range"] is not None) == ranged for row in rows)


def test_a_range_is_that_of_the_fast_and_the_slow_design(capsys):
    record = printed_json(capsys, "project", *RANGED["project"])
    found = record["projections"][0]
    seconds = found["range"]["omega_seconds"]
    assert seconds["low"] < seconds["likely"] == found["omega_seconds"] < seconds["high"]
    assert found["range"]["seconds"] == found["total_seconds"]
    slow = {part["parameter"]: part["values"] for part in record["made_of"]["u200"]}
    settings = [f"{name}={values['low' if name == 'memory.efficiency' else 'high']:g}" for name, values in slow.items()]
    words = [word for setting in settings for word in ("--set", setting.replace("_us=133", "_us=133.0"))]
    assert (
        printed_json(capsys, "project", *RANGED["project"], *words)["projections"][0]["omega_seconds"]
        == seconds["high"]
    )


def test_what_a_range_is_made_of_is_said_the_widest_first(capsys):
    assert fpga(["project", *RANGED["project"]]) == 0
    line = next(line for line in capsys.readouterr().out.splitlines() if "one parameter alone" in line)
    found = printed_json(capsys, "project", *RANGED["project"])["made_of"]["u200"]
    widths = [part["seconds"]["high"] - part["seconds"]["low"] for part in found]
    assert widths == sorted(widths, reverse=True)
    places = [line.index(part["parameter"]) for part in found[:3]]
    assert places == sorted(places)
    everything = ["--set", "memory.latency_ns=256", "--set", "memory.efficiency=0.8", "--set", "fsm_cycles=2"]
    everything += ["--set", "position_overhead_us=1.0"]
    for name, cycles in vars(load("u200").latencies).items():
        everything += ["--set", f"operators.{name}={cycles}"]
    assert fpga(["project", *RANGED["project"], *everything]) == 0
    assert "one parameter alone: nothing is open" in capsys.readouterr().out


def test_table_3_says_what_each_number_is_worth(capsys):
    assert fpga(["table3"]) == 0
    text = capsys.readouterr().out
    assert "2,471, 2,851, 951 right-side iterations, 0.190 for each SNP" in text
    assert "30 numbers compared with the paper's: 5 predicted, 19 calibrated, 6 restated" in text
    assert "chosen to match the published total speedups" in text
    assert re.search(r"\n64 +-7.9 % +-6.6 % +\+8.3 %", text)
    record = printed_json(capsys, "table3")
    assert record["kinds"] == {"predicted": 5, "calibrated": 19, "restated": 6}
    first = record["mixes"][0]
    assert first["compared"]["omega_widest"]["deviation"] == pytest.approx(-0.018, abs=0.0006)
    for mix in record["mixes"]:
        for one in mix["compared"].values():
            assert f"({100 * one['deviation']:+.1f} %) {one['kind'][0]}" in text or one["kind"] == "predicted"
    assert [one["cycles"] for one in record["by_latency"]] == [1, 20, 37, 50, 64, 100]


def test_table_3_of_another_design_is_no_reproduction(capsys):
    assert fpga(["table3", "--unroll", "16"]) == 0
    text = capsys.readouterr().out
    assert "this design is not the paper's" in text
    assert "none is evidence" in text
    assert "fitted to 50/50" not in text


def test_table_3_without_ranges(capsys):
    assert fpga(["table3", "--no-uncertainty"]) == 0
    assert not re.search(r"\([\d,]+-[\d,]+\)", capsys.readouterr().out)


def test_table_1_counts_its_evidence(capsys):
    assert fpga(["table1"]) == 0
    text = capsys.readouterr().out
    assert "20 numbers compared with the paper's: 8 predicted, 12 calibrated, 0 restated" in text
    assert "deviate by -22.2 to +295.0 %" in text
    assert "158 (+295 %) p" in text
    assert "158 (+295 %) c" in text
    record = printed_json(capsys, "table1")
    assert record["boards"][1]["compared"]["bottom-up, 32 lanes"]["lut"]["kind"] == "predicted"


def test_validate_says_what_its_rows_are_worth(capsys):
    assert fpga(["validate", "--lanes", "4"]) == 0
    text = capsys.readouterr().out
    cases = printed_json(capsys, "validate", "--lanes", "4")["cases"]
    kinds = [one["kind"] for one in cases]
    assert f"{kinds.count('predicted')} rows are predicted" in text
    assert f"{kinds.count('restated')} restated" in text
    assert all((one["cycles"] == 0) == (one["kind"] == "restated") for one in cases)


def test_totals_of_several_scans_have_ranges(capsys):
    words = ["project", str(EDGE / "twochrom.vcf"), *WINDOWS, "--no-measure", "-q"]
    assert main(["fpga", *words, "--json"]) == 0
    record = json.loads(capsys.readouterr().out)
    total = record["totals"]["u200"]
    highs = [one["range"]["omega_seconds"]["high"] for one in record["projections"]]
    assert total["range"]["omega_seconds"]["high"] == pytest.approx(sum(highs))
    assert main(["fpga", *words]) == 0
    assert re.search(r"total .*\([\d.,]+-[\d.,]+\)", capsys.readouterr().out)
    assert main(["fpga", *words, "--json", "--no-uncertainty"]) == 0
    record = json.loads(capsys.readouterr().out)
    assert record["totals"]["u200"]["range"] is record["made_of"] is None
    assert all(one["range"] is None for one in record["projections"])


def test_the_range_of_a_roofline_is_that_of_the_band(capsys):
    scan, design = Workload.uniform(2_000, grid=30), load("u200")
    met = printed_json(capsys, "roofline", *QUICK, "--set", "clock_met=true")["range"]
    assert met == band(scan, design.but(clock_met=True)).hardware_rate.record()
    found = printed_json(capsys, "roofline", *QUICK)["range"]
    assert found == built_band(scan, design).hardware_rate.record()
    assert all(found[end] >= met[end] for end in found)
    assert found["low"] < found["likely"] < found["high"]


def test_only_the_front_has_ranges(capsys):
    designs = printed_json(capsys, "explore", *RANGED["explore"])["designs"]
    assert {one["on_front"] for one in designs} == {True, False}
    assert all((one["range"] is not None) == one["on_front"] for one in designs)
    for one in designs:
        if one["on_front"]:
            bounds = one["range"]["omega_per_s"]
            assert bounds["low"] < bounds["likely"] == one["omega_per_s"] <= bounds["high"]


def test_crossings_of_a_curve_are_those_of_its_ends(capsys):
    found = printed_json(capsys, "curve", "--board", "zcu102")
    line = found["share"] * found["ideal_omega_per_s"]
    low, high = (found["range"][end] for end in ("low", "high"))
    assert all(a <= b <= c for a, b, c in zip(low, found["omega_per_s"], high, strict=True))
    for rates, crossing in zip((high, low), found["range"]["crossings"], strict=True):
        first = next((right for right, rate in zip(found["right"], rates, strict=True) if rate >= line), None)
        assert crossing == first


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["explore", "--unroll", "16", "--unrolls", "8,32"], "--unrolls and --unroll"),
        (["explore", "--set", "clock_mhz=200", "--clocks", "100"], "--clocks and --set clock_mhz"),
        (["explore", "--set", "memory.ports=2", "--ports", "1"], "--ports and --set memory.ports"),
        (["explore", "--set", "overlap_outer=true", "--overlap", "no"], "--overlap and --set overlap_outer"),
        (["explore", "--set", "kernels=2", "--kernels", "1"], "--kernels and --set kernels"),
        (["curve", "--unroll", "8", "--unrolls", "16"], "--unrolls and --unroll"),
        (["curve", "--set", "unroll=8", "--unrolls", "16"], "--unrolls and --unroll"),
        (["project", "--unroll", "16", "--set", "unroll=8"], "--unroll 16 and --set unroll=8"),
        (["project", "--ld-engine", "card", "--set", "ld=published"], "--ld-engine card and --set ld=published"),
    ],
)
def test_what_contradicts_itself_is_refused(words, said, capsys):
    assert fpga(words) == 2
    captured = capsys.readouterr()
    assert (captured.out, captured.err.count("\n")) == ("", 1)
    assert f"{said}: give one of them" in captured.err


def test_explore_tries_no_other_value_of_what_is_given(capsys):
    given = ["--unroll", "16", "--set", "memory.ports=1", "--set", "overlap_outer=true"]
    designs = printed_json(capsys, "explore", *QUICK, *given)["designs"]
    assert [(one["unroll"], one["ports"], one["overlap_outer"]) for one in designs] == [(16, 1, True)]
