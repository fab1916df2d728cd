"""`oclgenomics fpga`: results, errors in one line, exit codes, nothing imported in vain."""

from __future__ import annotations

import json
import subprocess
import sys
from dataclasses import FrozenInstanceError
from pathlib import Path

import numpy as np
import pytest

from hls_model import choices
from hls_model.__main__ import forwarded
from hls_model.errors import ModelError
from hls_model.presets import load, told_apart
from hls_model.resources import METHODS
from hls_model.rtl.stimulus import KINDS
from hls_model.timing import LEVELS
from oclgenomics.app.run import Run
from oclgenomics.cli.main import main
from oclgenomics.errors import UsageError
from oclgenomics.fpga import project_scan, random_alignment, workload_of
from oclgenomics.omega.options import ScanOptions
from oclgenomics.omega.plan.windows import find_windows
from oclgenomics.omega.sites.filters import filter_alignment
from oclgenomics.variation import read_alignments

COMMANDS = (
    "curve", "explore", "hls", "memory", "project", "report", "resources", "roofline", "run", "sdtw", "table1",
    "table3", "timing", "trace", "validate",
)  # fmt: skip
DATA = Path(__file__).parents[2] / "data" / "omega"
EDGE = DATA / "edge"
QUICK = ["--snps", "2000", "--grid", "30"]
WINDOWS = ["--grid", "50", "--minwin", "100", "--maxwin", "50000"]
CASES = {
    "curve": ["--to", "2000"],
    "explore": [*QUICK, "--unrolls", "8,32", "--ports", "1,2"],
    "project": [*QUICK, "--no-measure", "--samples", "50", "--compare", "zcu102"],
    "report": QUICK,
    "resources": [],
    "roofline": QUICK,
    "table1": [],
    "table3": [],
}


def fpga(*words: object) -> int:
    return main(["fpga", *map(str, words)])


@pytest.mark.parametrize("command", CASES)
def test_text_and_json(command, capsys):
    assert fpga(command, *CASES[command]) == 0
    text = capsys.readouterr().out
    assert len(text.splitlines()) > 3
    assert text.endswith("\n")
    assert not text.endswith("\n\n")
    assert fpga(command, *CASES[command], "--json") == 0
    assert isinstance(json.loads(capsys.readouterr().out), dict)


@pytest.mark.each_value
@pytest.mark.parametrize(("ending", "magic"), [(".png", b"\x89PNG"), (".svg", b"<?xml"), (".pdf", b"%PDF")])
@pytest.mark.parametrize("command", CASES)
def test_pictures(command, ending, magic, tmp_path, capsys):
    pytest.importorskip("matplotlib")
    once, again = tmp_path / f"once{ending}", tmp_path / f"again{ending}"
    for path in (once, again):
        assert fpga(command, *CASES[command], "--plot", str(path)) == 0
    assert once.read_bytes().startswith(magic)
    assert once.read_bytes() == again.read_bytes()
    capsys.readouterr()


@pytest.mark.parametrize(
    "words",
    [
        ["curve", "--to", "32"],
        ["curve", "--to", "32", "--unrolls", "32"],
        ["roofline", "--snps", "10", "--grid", "2"],
        ["project", "--snps", "10", "--grid", "2", "--no-measure"],
        ["explore", "--snps", "10", "--grid", "2", "--unrolls", "8", "--ports", "1", "--overlap", "no"],
    ],
)
def test_pictures_of_next_to_nothing(words, tmp_path, capsys):
    pytest.importorskip("matplotlib")
    path = tmp_path / "small.png"
    assert fpga(*words, "--plot", str(path)) == 0
    assert path.read_bytes().startswith(b"\x89PNG")
    capsys.readouterr()


def test_efficiency_by_unroll(tmp_path, capsys):
    pytest.importorskip("matplotlib")
    path = tmp_path / "heat.png"
    assert fpga("curve", "--unrolls", "4:12:4", "--to", "5000", "--plot", str(path)) == 0
    out = capsys.readouterr().out
    assert [line.split()[0] for line in out.splitlines()[3:]] == ["4", "8", "12"]
    assert path.stat().st_size > 1000


def test_curve_says_where_it_crosses(capsys):
    assert fpga("curve", "--board", "zcu102", "--json") == 0
    record = json.loads(capsys.readouterr().out)
    assert record["ideal_omega_per_s"] == 400e6
    assert record["right"][-1] == 4_500
    assert record["crossing"] <= 4_500
    assert len(record["right"]) == len(record["omega_per_s"]) == 1_125
    assert fpga("curve", "--to", "1000") == 0
    assert "not reached" in capsys.readouterr().out


def test_settings_reach_the_design(capsys):
    assert fpga("resources", "--unroll", "16", "--set", "memory.ports=1", "--json") == 0
    record = json.loads(capsys.readouterr().out)
    assert (record["unroll"], record["lanes"]) == (16, 16)
    assert record["parts"][0]["count"] == 32


@pytest.mark.parametrize(
    ("words", "status", "said"),
    [
        (["resources", "--board", "zcu102", "--unroll", "128"], 2, "largest unroll that fits is"),
        (["project", *QUICK, "--board", "zcu102", "--unroll", "128"], 2, "largest unroll"),
        (["project", "--snps", "1"], 2, "2 SNPs"),
        (["project", "--grid", "1"], 2, "grid 1"),
        (["project", "--compare", "u999"], 2, "no known board"),
        (["project", "--positions", "nowhere.txt"], 3, "cannot be read"),
        (["report", "--snps", "50", "--grid", "5"], 2, "no latency to report"),
        (["explore", *QUICK, "--unrolls", "100000"], 2, "rs_buffer_words"),
        (["curve", "--to", "3"], 2, "needs the unroll"),
        (["roofline", *QUICK, "--set", "colour=red"], 2, "no parameter"),
        (["table3", "-o", "/nowhere/out.txt"], 5, "/nowhere"),
        (["table1", "--plot", "out.gif2"], 2, "the name has to end in .png, .svg or .pdf"),
    ],
)
def test_errors_are_one_line(words, status, said, capsys):
    assert fpga(*words, *(["--no-measure"] if words[0] == "project" else [])) == status
    captured = capsys.readouterr()
    assert captured.out == ""
    assert captured.err.startswith("oclgenomics: error: ")
    assert captured.err.count("\n") == 1
    assert said in captured.err


def test_a_list_of_positions(tmp_path, capsys):
    path = tmp_path / "list.txt"
    path.write_text("".join(f"{bp}\n" for bp in range(50, 100_001, 50)))
    assert fpga("project", "--no-measure", "--positions", str(path), "--grid", "30", "--json") == 0
    listed = json.loads(capsys.readouterr().out)["projections"][0]
    assert fpga("project", "--no-measure", *QUICK, "--json") == 0
    even = json.loads(capsys.readouterr().out)["projections"][0]
    assert listed["cycles"] == even["cycles"]
    path.write_text("5\n4\n")
    assert fpga("project", "--no-measure", "--positions", str(path)) == 3
    assert "line 2: 4 comes after 5" in capsys.readouterr().err


def test_choices_are_those_of_the_model():
    assert tuple(LEVELS) == choices.LEVELS
    assert tuple(METHODS) == choices.METHODS
    assert tuple(KINDS) == choices.OPERANDS


def test_all_commands_are_in_the_help(capsys):
    fpga("--help")
    out = capsys.readouterr().out
    assert all(sum(line.split()[:1] == [name] for line in out.splitlines()) == 1 for name in COMMANDS)


@pytest.mark.parametrize("format", ["text", "json"])
def test_formats_by_name(format, capsys):
    assert fpga("timing", "--format", format) == 0
    out = capsys.readouterr().out
    assert fpga("timing", *(["--json"] if format == "json" else [])) == 0
    assert out == capsys.readouterr().out
    assert fpga("timing", "--format", "tsv") == 2
    assert "choose one of text, json" in capsys.readouterr().err


@pytest.mark.parametrize("quiet", [[], ["-q"]])
def test_the_old_spelling(quiet):
    """It says nothing but what the command says on standard output, and a line on standard error."""
    words = ["-m", "hls_model", "timing", "--json", *quiet]
    done = subprocess.run([sys.executable, *words], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    assert json.loads(done.stdout)["design"] == "u200"
    assert ("is now `oclgenomics fpga`" in done.stderr, done.stderr.count("\n")) == ((False, 0) if quiet else (True, 1))


def test_the_old_spelling_measures_nothing():
    assert forwarded(["project", "--snps", "9"]) == ["fpga", "project", "--snps", "9", "--no-measure"]
    assert forwarded(["project", "--no-measure"]) == ["fpga", "project", "--no-measure"]
    assert forwarded(["timing", "--help"]) == ["fpga", "timing", "--help"]


# `oclgenomics fpga project`


def test_trip_counts_are_the_scans_own():
    options = ScanOptions(grid=50, minwin=100, maxwin=50_000, minsnps=7, maf=0.1)
    for alignment in read_alignments(EDGE / "twochrom.vcf"):
        used = filter_alignment(alignment, options, None).alignment
        workload = workload_of(used, options)
        windows = find_windows(used.positions, options)
        np.testing.assert_array_equal(workload.left * workload.right, windows.scores(-1))
        assert (workload.snps, workload.samples) == (used.sites, used.haplotypes)


def test_a_projection_from_python(engine, capsys):
    options = ScanOptions(grid=50, minwin=100, maxwin=50_000)
    seen: list[str] = []
    done: list[int] = []
    found = project_scan(
        EDGE / "twochrom.vcf", options, ["u200", load("zcu102")], engine=engine,
        on_alignment=lambda alignment: seen.append(alignment.name),
        run=Run(progress=lambda count, _: done.append(count)),
    )  # fmt: skip
    words = ["project", EDGE / "twochrom.vcf", *WINDOWS, "--no-measure", "--compare", "zcu102", "-q", "--json"]
    assert fpga(*words) == 0
    assert found.records() == json.loads(capsys.readouterr().out)["projections"]
    assert seen == ["chrA", "chrB"]
    assert done == [2]
    assert found.measured is not None
    assert len(found.measured.seconds) == 2
    assert found.totals("u200")["omegas"] == sum(one.omegas for one in found.workloads)
    assert repr(found).startswith("<ScanProjection of 2 scans: u200 ")
    assert "\n" not in repr(found)
    with pytest.raises(FrozenInstanceError):
        found.measured = None  # type: ignore[misc]


def test_the_old_keywords_of_verbs_still_work():
    options = ScanOptions(grid=50, minwin=100, maxwin=50_000)
    with pytest.warns(DeprecationWarning, match="give engine=Engine"):
        old = project_scan(EDGE / "twochrom.vcf", options, measure=False, threads=1)
    assert old.records() == project_scan(EDGE / "twochrom.vcf", options, measure=False, run=Run(1)).records()


def test_a_projection_alone_needs_no_device(monkeypatch):
    monkeypatch.setattr("oclgenomics.fpga.result.to_frame", dict)
    options = ScanOptions(grid=50, minwin=100, maxwin=50_000)
    found = project_scan(EDGE / "twochrom.vcf", options, measure=False, engine="no such device")
    assert found.measured is None
    table = found.to_frame()
    assert table["workload"] == ["chrA", "chrB"]
    assert not any(isinstance(value, dict) for values in table.values() for value in values)


@pytest.mark.parametrize(
    ("change", "options", "message"),
    [
        ({"designs": ["u999"]}, {}, "no known board"),
        ({"designs": []}, {}, "^designs must not be empty$"),
        ({}, {"border": 3}, "^border=3: the pipeline tries every pair"),
    ],
)
def test_what_is_not_projected(change, options, message):
    given = ScanOptions(**{"grid": 50, "minwin": 100, "maxwin": 50_000} | options)
    with pytest.raises((UsageError, ModelError), match=message):
        project_scan(EDGE / "twochrom.vcf", given, **{"measure": False} | change)


def test_a_scan_of_a_file_beside_its_measured_time(device, capsys):
    words = ["project", EDGE / "twochrom.vcf", *WINDOWS, "-d", str(device.index), "--compare", "zcu102", "-q", "--json"]
    assert fpga(*words) == 0
    record = json.loads(capsys.readouterr().out)
    names = [(one["workload"], one["design"]) for one in record["projections"]]
    assert names == [("chrA", "u200"), ("chrB", "u200"), ("chrA", "zcu102"), ("chrB", "zcu102")]
    assert record["totals"]["u200"]["omegas"] == sum(one["omegas"] for one in record["projections"][:2])
    assert record["measured"]["total"] == pytest.approx(sum(record["measured"]["seconds"]))
    assert len(record["measured"]["seconds"]) == 2
    assert device.name in record["measured"]["device"]
    assert record["provenance"]["device"]["name"] == device.name


COMPARED = [word for name in ("u200", "zcu102", "u200") for word in ("--compare", name)]
TWO = ["project", "--no-measure", *QUICK, "--set", "memory.latency_ns=800", *COMPARED]
NAMES = ["u200 (memory.latency_ns=800)", "u200 (memory.latency_ns=0)", "zcu102", "u200 (memory.latency_ns=0) #2"]


def test_designs_of_one_name_stay_apart(tmp_path, capsys):
    pytest.importorskip("matplotlib")
    assert fpga(*TWO, "--json") == 0
    record = json.loads(capsys.readouterr().out)
    assert [one["design"] for one in record["projections"]] == NAMES
    cycles = [one["cycles"] for one in record["projections"]]
    assert cycles[0] > cycles[1] == cycles[3]
    assert list(record["totals"]) == NAMES
    assert fpga(*TWO, "--plot", tmp_path / "x.svg") == 0
    out = capsys.readouterr().out
    assert all(f"\n{name}  " in out for name in NAMES)
    assert all(name in (tmp_path / "x.svg").read_text() for name in NAMES)


def test_names_of_designs():
    u200, other = load("u200"), load("zcu102").but(name="u200")
    assert [config.name for config in told_apart([u200, load("zcu102")])] == ["u200", "zcu102"]
    first, second = (config.name for config in told_apart([u200, other]))
    assert (first, second) == (
        "u200 (board=u200, unroll=32, clock_mhz=250, ...)", "u200 (board=zcu102, unroll=4, clock_mhz=100, ...)",
    )  # fmt: skip
    assert "overlap_outer=true" in told_apart([u200, u200.but(overlap_outer=True)])[1].name


def test_projection_without_measurement_needs_no_device(capsys):
    assert fpga("project", EDGE / "plain.ms", "--length", 1_000_000, *WINDOWS, "--no-measure", "-d", "nosuch") == 0
    captured = capsys.readouterr()
    assert "measured" not in captured.out
    assert captured.err == ""


def test_random_genotypes_for_evenly_spread_snps(device, capsys):
    words = ["project", "--snps", 300, "--grid", 10, "--samples", 33, "-d", str(device.index), "-q"]
    assert fpga(*words) == 0
    out = capsys.readouterr().out
    assert "300 uniform SNPs: 300 sites, 33 haplotypes, 10 positions" in out
    assert "measured on" in out


@pytest.mark.parametrize("haplotypes", [2, 32, 33, 100])
def test_random_genotypes_are_seeded_and_all_vary(haplotypes):
    positions = np.arange(50)
    one, again, other = (random_alignment(positions, haplotypes, seed, "x") for seed in (1, 1, 2))
    np.testing.assert_array_equal(one.bits, again.bits)
    assert (one.bits != other.bits).any() or haplotypes == 2
    ones = np.bitwise_count(one.bits).sum(axis=0)
    assert ((ones > 0) & (ones < haplotypes)).all()


def test_a_picture_of_several_chromosomes(tmp_path, capsys):
    pytest.importorskip("matplotlib")
    path = tmp_path / "out.png"
    assert fpga("project", EDGE / "twochrom.vcf", *WINDOWS, "--no-measure", "--plot", path) == 0
    assert path.read_bytes().startswith(b"\x89PNG")
    out = capsys.readouterr().out
    assert [line.split()[0] for line in out.splitlines() if line.startswith(("chr", "total"))] == [
        "chrA",
        "chrB",
        "total",
    ]


@pytest.mark.parametrize(
    ("words", "status", "said"),
    [
        (
            [EDGE / "plain.ms", *WINDOWS, "--length", "1M", "--border", 5],
            2,
            "--border 5: the pipeline tries every pair",
        ),
        ([EDGE / "plain.ms", "--minwin", 1, "--maxwin", 2], 2, "--grid is missing"),
        ([EDGE / "plain.ms", *WINDOWS, "--snps", 10], 2, "INPUT has its own"),
        ([EDGE / "nothing.ms", *WINDOWS], 3, "nothing.ms"),
        ([EDGE / "plain.ms", *WINDOWS, "--length", "1M", "-o", EDGE / "plain.ms"], 2, "the same file as the input"),
        ([EDGE / "plain.ms", *WINDOWS, "--length", "1M", "--board", "u999"], 2, "no known board"),
        (["--samples", "many"], 2, "number of haplotypes"),
        (["--samples", 1], 2, "2 haplotypes or more"),
        (["--exclude", "x.bed"], 2, "--exclude is for an INPUT"),
        (["--positions", "x", "--snps", 5], 2, "leave out --snps"),
        (["--positions", "nowhere"], 3, "cannot be read"),
        (["--snps", 300, "--samples", 10, "-d", "nosuch"], 4, "nosuch"),
        (["-o", "/nowhere/x"], 5, "/nowhere"),
    ],
)
def test_errors_of_project_are_one_line(words, status, said, capsys):
    assert fpga("project", *words) == status
    captured = capsys.readouterr()
    assert captured.out == ""
    assert captured.err.count("\n") == 1
    assert said in captured.err
