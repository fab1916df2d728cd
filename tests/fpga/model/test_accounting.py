"""Totals by accounting: the paper's is one choice, both stand side by side, and each says what it rests on."""

from __future__ import annotations

import json

import pytest
from helpers.fpga_command import fpga
from helpers.products import examples
from hypothesis import given, settings, strategies as st

from hls_model import PRESETS, ModelError, Workload, load
from hls_model.choices import ACCOUNTINGS
from hls_model.config import Config
from hls_model.paper.table3 import published_seconds
from hls_model.project import PAPER, Projection, counted, project, total_ranges, totals
from hls_model.ranges import Range
from oclgenomics.fpga import project_workloads
from oclgenomics.fpga.commands.projection_text import totals_note

# Seconds of the FPGA from the omegas and pairs of each data set of Table III and its published rates.
PUBLISHED = {(13_000, 7_000): 5.80, (15_000, 500): 2.13, (5_000, 60_000): 6.03}
MIXES = pytest.mark.parametrize("mix", PUBLISHED)
SMALL = Workload.uniform(2_000, grid=40, samples=300)
OPTIONS = ["--ld-engine", "published", "--all-pairs", "--set", "layout=shifted", "--set", "launch=per_scan"]
WORDS = ["project", "--snps", "2000", "--grid", "40", "--samples", "300"]


@MIXES
def test_the_papers_accounting_holds_the_papers_totals(mix: tuple[int, int]) -> None:
    scan = Workload.uniform(mix[0], samples=mix[1])
    one = project(scan, load("u200"), accounting="paper")
    assert one.total.holds(PUBLISHED[mix])
    assert one.total.likely == pytest.approx({5.80: 5.95, 2.13: 2.30, 6.03: 6.04}[PUBLISHED[mix]], abs=0.006)
    assert published_seconds(scan, load("u200")) == pytest.approx(PUBLISHED[mix], abs=0.006)


def test_only_the_papers_own_scans_and_design_have_its_totals() -> None:
    assert published_seconds(Workload.uniform(5_000, samples=60_000, grid=999), load("u200")) is None
    assert published_seconds(Workload.uniform(5_000, samples=60_001), load("u200")) is None
    assert published_seconds(Workload.uniform(5_000, samples=60_000, maxwin=10_000), load("u200")) is None
    assert published_seconds(Workload.uniform(5_000, samples=60_000), load("u280_hbm")) is None


def test_the_accounting_is_the_four_options(capsys: pytest.CaptureFixture[str]) -> None:
    found = []
    for options in (OPTIONS, ["--accounting", "paper"]):
        assert fpga([*WORDS, "--compare", "u280_hbm", *options, "--json"]) == 0
        found.append(json.loads(capsys.readouterr().out)["projections"])
    spelt, named = found
    assert spelt[0]["phases"] == named[0]["phases"]
    assert spelt[1]["phases"] != named[1]["phases"]  # --set is for --board alone
    assert {one["accounting"] for one in named} == {"paper"}
    assert {phase["name"] for phase in named[1]["phases"]} >= {"shift columns", "send r2"}
    for one in named:
        assert one["total_seconds"] == one["total_seconds_by_accounting"]["paper"]
        assert one["ld_scores"] == 2_000**2


designs = st.builds(
    lambda name, **changes: load(name).but(**changes),
    name=st.sampled_from(sorted(PRESETS)),
    layout=st.sampled_from(["repacked", "shifted"]),
    launch=st.sampled_from(["per_position", "per_scan"]),
    ld=st.sampled_from(["card", "published"]),
    clock_met=st.booleans(),
)


@settings(max_examples=examples(40))
@given(designs, st.booleans())
def test_the_way_between_accountings_leads_back(design: Config, pairs: bool) -> None:
    one = project(SMALL, design, all_pairs=pairs)
    paper = one.counted_as("paper")
    back = paper.counted_as("design")
    assert back.phases == one.phases
    assert (back.timing.config, back.all_pairs) == (one.timing.config, pairs)
    assert one.timing.config == design or not design.clock_met  # else built for a clock that it may miss
    assert paper.phases == project(SMALL, design, all_pairs=pairs, accounting="paper").phases
    assert paper.totals == one.totals == {"design": one.total, "paper": paper.total}
    assert paper.counted_as("paper").total == paper.total
    assert paper.timing.cycles == one.timing.cycles


def test_totals_have_both() -> None:
    scans = [project(SMALL, load("u200")), project(Workload.uniform(500, grid=9), load("u200"))]
    ranges = total_ranges(scans)
    assert ranges["seconds"] == ranges["seconds_design"]
    assert ranges["seconds_paper"] == scans[0].totals["paper"] + scans[1].totals["paper"]
    assert totals(scans)["seconds_paper"] == ranges["seconds_paper"].likely
    found = project_workloads([SMALL], ["u200"], accounting="paper")
    assert found.totals("u200")["seconds"] == found.totals("u200")["seconds_paper"]
    assert found.records()[0]["accounting"] == "paper"


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["--set", "layout=repacked"], "--accounting paper and --set layout=repacked: give one of them"),
        (["--set", "launch=per_position"], "--accounting paper and --set launch=per_position: give one of them"),
        (["--set", "ld=card"], "--accounting paper and --set ld=card: give one of them"),
        (["--ld-engine", "card"], "--accounting paper and --ld-engine card: give one of them"),
    ],
)
def test_what_contradicts_the_papers_accounting_is_refused(
    words: list[str], said: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert fpga([*WORDS, "--accounting", "paper", *words]) == 2
    assert said in capsys.readouterr().err


def test_an_accounting_that_is_none() -> None:
    with pytest.raises(ModelError, match=r"^accounting is 'mine'; choose one of design, paper$"):
        counted(load("u200"), "mine")  # type: ignore[arg-type]
    assert counted(load("u200"), "design") == load("u200")
    assert set(PAPER) <= set(vars(load("u200")))


@pytest.mark.parametrize("accounting", ACCOUNTINGS)
def test_a_design_has_to_fit_as_it_is_counted(accounting: str, capsys: pytest.CaptureFixture[str]) -> None:
    """LD's engine is not there as the paper counts, and the shifter is."""
    large = ["--set", "ld_units=4096", "--accounting", accounting]
    assert fpga([*WORDS, *large]) == (0 if accounting == "paper" else 2)
    assert ("LUT" in capsys.readouterr().err) == (accounting == "design")


# what is shown


@pytest.mark.parametrize(("accounting", "other"), [("design", "as the paper counts"), ("paper", "as designed")])
def test_both_totals_stand_side_by_side(accounting: str, other: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert fpga(["project", "--snps", "5000", "--samples", "60000", "--accounting", accounting]) == 0
    out = capsys.readouterr().out
    head = next(line for line in out.splitlines() if line.startswith("design "))
    assert "total" in head
    assert other in head
    assert "the rates of Table III of the paper make 6.03 s of this data set, outside 811 ms" in out
    assert "as designed and within 6.04 s" in out


def test_other_scans_are_not_compared_with_the_paper() -> None:
    assert "Table III" not in totals_note([[project(SMALL, load("u200"))]])


def test_table_3_says_which_totals_hold_the_papers(capsys: pytest.CaptureFixture[str]) -> None:
    assert fpga(["table3"]) == 0
    out = capsys.readouterr().out
    block = out[out.index("whole scan, memory of the board") :].splitlines()[1:4]
    assert [line.count("holds the paper's") for line in block] == [2, 1, 1]
    assert all(line.rstrip().endswith("holds the paper's") for line in block)
    assert fpga(["table3", "--json"]) == 0
    for mix, published in zip(json.loads(capsys.readouterr().out)["mixes"], PUBLISHED.values(), strict=True):
        assert Range(**mix["board_total_seconds"]["paper"]).holds(published)


# hardware that nobody has built


def named(one: Projection) -> dict[str, Range]:
    return {phase.name: phase.seconds for phase in one.phases if phase.unbuilt}


def test_phases_on_hardware_that_nobody_has_built_say_so(capsys: pytest.CaptureFixture[str]) -> None:
    assert set(named(project(SMALL, load("u200")))) == {"LD", "build M", "repack blocks of M"}
    shifted = load("u200").but(layout="shifted", lane_map="blocked")
    assert set(named(project(SMALL, shifted))) == {"LD", "build M", "shift columns", "permute for blocked lanes"}
    host = load("u200").but(host_transfer="full", ld="published")
    assert named(project(SMALL, host)) == {}
    assert fpga(WORDS) == 0
    out = capsys.readouterr().out
    for name in ("LD", "build M", "repack blocks of M"):
        assert f"\n{name} * " in out
        assert f"\n  {name}: " in out
    assert "omega pipelines *" not in out
    assert "nobody has built" in out


@pytest.mark.parametrize("name", sorted(PRESETS))
def test_the_range_of_ld_reaches_the_published_accelerator(name: str) -> None:
    scan = Workload.uniform(2_000, grid=40, samples=20_000)
    design = load(name)
    own, published, unreached = (
        project(scan, one).ld_range for one in (design, design.but(ld="published"), design.but(ld_bits_per_s=1e18))
    )
    assert own is not None
    assert published is not None
    assert unreached is not None
    assert own.high == pytest.approx(max(published.likely, unreached.high))
    assert own.low == own.likely == unreached.likely <= unreached.high
    if name != "zcu102":  # whose engine is no faster than the published accelerator
        assert own.high == pytest.approx(published.likely)
        assert own.high > 5 * own.likely


def test_every_phase_on_such_hardware_has_a_range() -> None:
    for design in (load("u200"), load("u200_overlap").but(layout="shifted", lane_map="blocked"), load("u280_hbm")):
        for name, seconds in named(project(SMALL, design)).items():
            assert seconds.high > 1.3 * seconds.likely, name
