"""Reports of synthesis and cosimulation: what is read of them, what they are put beside, and what is refused."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from helpers.hls_reports import LARGE, calls, cosim, variables, vitis, vivado
from hypothesis import given
from hypothesis import strategies as st

from hls_model import Workload, load, simulate
from hls_model.cli import main
from hls_model.errors import ModelError, ModelInputError
from hls_model.hls.design import latency_cycles
from hls_model.hls.reports.compare import Comparison, Reports, compare, main_loop, read_reports
from hls_model.hls.reports.cosim import read_cosim
from hls_model.hls.reports.csynth import read_csynth
from hls_model.hls.reports.xml_file import parse_xml, range_of
from hls_model.resources import estimate

POSITION = Workload.single(8, 1024)  # of the numbers in `vivado`


def rows(found: Comparison) -> dict[tuple[str, str], tuple[float | None, float | None, str]]:
    return {(row.section, row.quantity): (row.reported, row.model, row.basis) for row in found.rows}


def alone(text: str) -> Reports:
    """A synthesis report and nothing else."""
    found = read_csynth("x", text)
    return Reports(found, found.loops, ())


def test_a_report_of_vivado_hls() -> None:
    found = read_csynth("x", vivado())
    assert (found.version, found.top, found.part) == ("2020.1", "omega_kernel", "xcu200-fsgd2104-2-e")
    assert (found.target_ns, found.uncertainty_ns, found.estimated_ns) == (4.0, 0.5, 3.4)
    assert (found.best, found.average, found.worst, found.interval) == (1210, None, 1300, (1210, 1300))
    assert [loop.name for loop in found.loops] == ["prefetch", "columns", "columns/beats"]
    outer, inner = found.loops[1:]
    assert (outer.trips, outer.latency, outer.iteration_latency, outer.interval) == ((8, 8), None, (80, 90), None)
    assert (inner.trips, inner.latency, inner.interval, inner.depth) == ((32, 32), (70, 70), (1, 1), (39, 39))
    assert found.used == {"bram18k": 90, "dsp": 330, "ff": 81000, "lut": 92000, "uram": 0}
    assert list(found.available.values()) == list(LARGE.values())


def test_a_report_of_vitis_hls() -> None:
    found = read_csynth("x", vitis())
    assert (found.version, found.worst, found.interval) == ("2022.2", None, None)
    (loop,) = found.loops
    assert (loop.name, loop.module) == ("beats", "omega_kernel_Pipeline_beats")
    assert (loop.trips, loop.latency, loop.depth) == ((1, 32), (38, 70), (40, 40))
    assert found.used["dsp"] == 330


@pytest.mark.parametrize("total", [False, True])
def test_a_table_of_a_cosimulation(total: bool) -> None:
    (one,) = read_cosim("x", cosim(total=total))
    assert (one.language, one.status, one.least, one.average, one.most) == ("Verilog", "Pass", 1215, 1215, 1215)


def test_other_reports_of_a_cosimulation() -> None:
    (one,) = read_cosim("x", variables())
    assert (one.least, one.average, one.most, one.calls) == (1215, 1250, 1300, ())
    (one,) = read_cosim("x", calls())
    assert (one.least, one.average, one.most, one.calls) == (1200, 1215, 1230, (1200, 1230, 1215))


def test_numbers_stand_beside_the_models(tmp_path: Path) -> None:
    (tmp_path / "a").write_text(vivado())
    (tmp_path / "b").write_text(cosim())
    config = load("u200")
    found = compare(read_reports([tmp_path / "a", tmp_path / "b"]), config, POSITION)
    known = rows(found)
    cycles = simulate(POSITION, config).cycles
    assert known["clock, ns", "target"] == (4.0, 4.0, "given")
    assert known["clock, ns", "estimated"][:2] == (3.4, None)
    assert known["loop beats", "initiation interval"] == (1, 1, "predicted")
    assert known["loop beats", "depth"] == (39, config.depth, "predicted")
    assert known["loop beats", "trip count"] == (32, 1024 // 32, "given")
    assert known["latency of the function, cycles", "greatest"] == (1300, cycles, "predicted")
    assert known["latency of the function, cycles", "mean"] == (None, cycles, "predicted")
    assert known["cosimulation, Verilog, cycles", "mean"] == (1215, cycles, "predicted")
    assert known["used, bottom-up", "LUT"] == (92000, estimate(config, pipelines_only=True).total.lut, "predicted")
    assert known["used, paper-calibrated", "LUT"] == (92000, 50584, "calibrated")
    assert known["available", "DSP"] == (6840, 6840, "given")
    row = next(row for row in found.rows if (row.section, row.quantity) == ("used, paper-calibrated", "LUT"))
    assert row.deviation == pytest.approx(50584 / 92000 - 1)
    depth, beyond = found.notes
    assert depth.startswith("depth:")
    assert f"some {2 * latency_cycles(config) + 8} cycles" in beyond
    other = compare(alone(vivado(top="other")), config, POSITION)
    assert len(other.notes) == 1  # what somebody else's kernel does before it begins is not known


def test_overhead_around_the_pipeline_is_not_in_a_report() -> None:
    config = load("u200").but(position_overhead_us=133.0)
    with_overhead = rows(compare(alone(vivado()), config, POSITION))
    assert with_overhead == rows(compare(alone(vivado()), load("u200"), POSITION))


def test_a_report_is_of_the_pipelines_of_one_kernel() -> None:
    one = rows(compare(alone(vivado()), load("u200"), POSITION))
    board = load("u200").but(kernels=2, ld_units=512, matrix_adders=16)
    assert rows(compare(alone(vivado()), board, POSITION)) == one


def test_a_workload_gives_least_mean_and_greatest() -> None:
    config, workload = load("u200"), Workload.uniform(2000, grid=30)
    known = rows(compare(alone(vivado()), config, workload))
    cycles = simulate(workload, config).position_cycles
    cycles = cycles[cycles > 0]
    section = "latency of the function, cycles"
    assert [known[section, name][1] for name in ("least", "mean", "greatest")] == [
        cycles.min(), cycles.mean(), cycles.max(),
    ]  # fmt: skip
    assert known["loop beats", "trip count"][1] is None


@pytest.mark.parametrize(
    ("text", "changes", "note"),
    [
        (vivado(part="xc7z020-clg400-1"), {}, "the report is for xc7z020"),
        (vivado(), {"clock_mhz": 200.0}, "asks for 4 ns, the design for 5 ns"),
        (vivado(estimated=3.6), {}, "misses the target of 4 ns less 0.5 ns"),
        (vitis(), {}, "knows no latency"),
        (vitis().replace("<URAM>0<", "<URAM>7<"), {}, "took 7 URAM"),
        (vivado().replace("PipelineII", "Other"), {}, "lists no pipelined loop"),
    ],
)
def test_what_differs_is_said(text: str, changes: dict[str, float], note: str) -> None:
    found = compare(alone(text), load("u200").but(**changes), POSITION)
    assert any(note in one for one in found.notes), found.notes


def test_a_failed_cosimulation_is_said() -> None:
    found = compare(Reports(None, (), tuple(read_cosim("x", cosim(("Fail", "9", "9", "9"))))), load("u200"))
    assert any("says 'Fail'" in note for note in found.notes)
    assert any("no position is given" in note for note in found.notes)


def test_the_loop_of_the_lanes() -> None:
    loops = read_csynth("x", vivado()).loops
    assert main_loop(loops).name == "columns/beats"
    assert main_loop(loops, "prefetch").name == "prefetch"
    joined = read_csynth("x", vivado().replace("beats>", "columns_beats>")).loops
    assert main_loop(joined).label == "columns_beats"
    other = read_csynth("x", vivado().replace("beats>", "compute>")).loops
    assert main_loop(other).label == "compute"  # the deepest
    with pytest.raises(ModelError, match="there are prefetch, beats"):
        main_loop(loops, "columns")  # is not pipelined


def test_loops_of_functions_below_the_top(tmp_path: Path) -> None:
    (tmp_path / "top").write_text(vivado().replace("PipelineII", "Other"))
    (tmp_path / "below").write_text(vivado(top="run_columns", depth=50))
    found = read_reports([tmp_path / "below", tmp_path / "top"])
    assert found.synthesis is not None
    assert found.synthesis.top == "omega_kernel"
    assert main_loop(found.loops).depth == (50, 50)
    with pytest.raises(ModelError, match=r"of the function main, but of omega_kernel, run_columns; .* --top"):
        read_reports([tmp_path / "below", tmp_path / "top"], "main")
    assert read_reports([tmp_path / "below"]).synthesis.top == "run_columns"


def test_a_loop_of_the_top_function_goes_before_one_of_that_label_below(tmp_path: Path) -> None:
    (tmp_path / "top").write_text(vivado(depth=30))
    (tmp_path / "below").write_text(vivado(top="run_columns", depth=50))
    for names in (("top", "below"), ("below", "top")):
        found = read_reports([tmp_path / name for name in names])
        assert len(found.loops) == 2 * len(read_reports([tmp_path / "top"]).loops)
        assert main_loop(found.loops).depth == (30, 30)


BOMB = '<!DOCTYPE a [<!ENTITY b "x"><!ENTITY c "&b;&b;&b;&b;">]>\n<profile>&c;</profile>'


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", "is no report that is known"),
        ("<profile>", "is no XML"),
        ("<a></b>", "is no XML"),
        ("<html/>", "begins with <html>"),
        ("<profile/>", "<profile> has no <UserAssignments>"),
        (BOMB, "declares a document type"),
        ("<?xml version='1.0' encoding='cp037'?>" + BOMB, "declares a document type"),
        ("<profile>&c;</profile>", "is no XML"),
        ("<a>" * 5000 + "</a>" * 5000, "more than 60 deep"),
        (vivado().replace("TopModelName", "Name"), "<UserAssignments> has no <TopModelName>"),
        (vivado().replace("TargetClockPeriod>4.00", "TargetClockPeriod>nan"), "<TargetClockPeriod> is 'nan'"),
        (vivado().replace("EstimatedClockPeriod", "Other"), "EstimatedClockPeriod"),
        (vivado(worst="12x"), "<Worst-caseLatency> is '12x', which is no count"),
        (vivado(worst="9" * 25), "<Worst-caseLatency> is '999"),
        (vivado(worst="1\u0665"), "which is no count"),
        (vivado().replace("<max>90", "<max>70"), "goes from 80 down to 70"),
        (vivado().replace("DSP48E", "MULT"), "<Resources> has no <DSP>"),
        (vivado().replace("<LUT>92000", "<LUT>undef"), "<Resources> has no <LUT>, or no number in it"),
        (vitis(trips="1 ~ 2 ~ 3"), "which is no range"),
        (cosim(("NA", "NA", "NA", "NA")), "no language was simulated"),
        (cosim(("Pass", "1", "-1", "1")), "line 11: '-1' is no number of cycles"),
        ("| Verilog | Pass | 3 |", "line 1: has 3 cells"),
        ('$MIN_LATENCY = "3"', "has no $AVER_LATENCY"),
        ("transaction 0: 1e9 x", "line 1: '1e9' is no number"),
    ],
)  # fmt: skip
def test_what_is_no_report_is_refused_in_one_line(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], text: str, message: str
) -> None:
    path = tmp_path / "report.xml"
    path.write_text(text)
    assert main(["import-report", str(path)]) == 3
    said = capsys.readouterr()
    assert not said.out
    assert said.err.count("\n") == 1
    assert message in said.err
    assert str(path) in said.err


def test_a_report_without_end_is_refused(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["import-report", "/dev/zero"]) == 3
    assert capsys.readouterr().err.count("\n") == 1


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["--left", "8"], "go together"),
        (["--left", "8", "--right", "9", "--snps", "50"], "give one of them"),
        (["--left", "8", "--right", "9"], "no position has 32"),
        (["--loop", "x"], "no pipelined loop is called 'x'"),
        (["--top", "x"], "no report is of the function x, but of omega_kernel"),
    ],
)
def test_options_that_do_not_fit(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], words: list[str], message: str
) -> None:
    (tmp_path / "a.xml").write_text(vivado())
    assert main(["import-report", str(tmp_path / "a.xml"), *words]) == 2
    said = capsys.readouterr().err
    assert message in said
    assert said.count("\n") == 1


def test_text_and_json(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "a.xml").write_text(vivado())
    (tmp_path / "b.rpt").write_text(cosim())
    words = ["import-report", str(tmp_path / "a.xml"), str(tmp_path / "b.rpt"), "--left", "8", "--right", "1024"]
    assert main(words) == 0
    text = capsys.readouterr().out
    cycles = simulate(POSITION, load("u200")).cycles
    line = next(line for line in text.splitlines() if line.startswith("greatest  ") and "1,215" in line)
    assert line.split() == ["greatest", "1,215", f"{cycles:,}", f"{100 * (cycles / 1215 - 1):+.1f}", "%", "predicted"]
    assert main([*words, "--json"]) == 0
    record = json.loads(capsys.readouterr().out)
    assert record["synthesis"] == {"top": "omega_kernel", "part": "xcu200-fsgd2104-2-e", "version": "2020.1"}
    assert record["cosimulations"][0]["most"] == 1215
    assert {row["basis"] for row in record["rows"]} == {"predicted", "calibrated", "given"}
    assert main([*words, "-o", str(tmp_path / "a.xml")]) != 0  # an input is not written over
    assert read_csynth(tmp_path / "a.xml").top == "omega_kernel"


@given(st.integers(0, 10**12), st.integers(0, 10**12), st.booleans())
def test_ranges_are_read_as_written(one: int, other: int, as_elements: bool) -> None:
    least, most = sorted((one, other))
    inner = f"<range><min>{least}</min><max>{most}</max></range>" if as_elements else f" {least} ~ {most} "
    assert range_of(parse_xml("x", f"<Latency>{inner}</Latency>"), "x") == (least, most)


@given(st.text(max_size=200))
def test_any_text_is_read_or_refused(text: str) -> None:
    for read in (read_csynth, read_cosim):
        with pytest.raises(ModelInputError) as caught:
            read("x", text)
        assert "\n" not in str(caught.value)
