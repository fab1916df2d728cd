"""`oclgenomics omega scan`: reports and figures whole or absent, one line and the right exit code for a mistake."""

from __future__ import annotations

import argparse
import csv
import gzip
import json
import os
import re
import resource
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from oclgenomics.app.progress import Progress, describe
from oclgenomics.cli.main import main
from oclgenomics.omega.commands import OMEGAPLUS_NAMES, add_parser
from oclgenomics.omega.commands.options import scan_options
from oclgenomics.runtime import Engine, select_device
from oclgenomics.runtime.trust import verdict_on
from oclgenomics.variation import read_alignments

TESTS = Path(__file__).parents[2]
DATA = TESTS / "data" / "omega"
EDGE = DATA / "edge"
GOLDEN = TESTS / "golden" / "omega"
WINDOWS = ["--grid", "50", "--minwin", "100", "--maxwin", "50000"]
MS = [str(EDGE / "plain.ms"), "--length", "1000000"]


@pytest.fixture(scope="session")
def cpu() -> list[str]:
    verdict_on(select_device("cpu"))  # which tells that it tests the device; commands are not to say it in between
    return ["-d", "cpu"]


@pytest.fixture
def compat_cpu(cpu: list[str]) -> list[str]:
    """As `cpu`, for runs in compat precision."""
    if not Engine("cpu").traits.fp64:
        pytest.skip("OmegaPlus' arithmetic needs float64, which this device lacks")
    return cpu


def scan(*words: object) -> int:
    return main(["omega", "scan", *map(str, words)])


def run(*words: object, **options) -> subprocess.CompletedProcess[str]:
    """The command in a process of its own."""
    command = [sys.executable, "-m", "oclgenomics", "omega", "scan", *map(str, words)]
    return subprocess.run(command, capture_output=True, text=True, timeout=120, **options)


def rows(path: Path) -> list[dict[str, str]]:
    lines = [line for line in path.read_text().splitlines() if not line.startswith("#")]
    return list(csv.DictReader(lines, delimiter="\t"))


# What a scan writes


def test_omegaplus_command_line_gives_its_report(device, tmp_path, capsys):
    if not Engine(device).traits.fp64:
        pytest.skip("compat precision needs float64")
    out = tmp_path / "report"
    pasted = ["-length", "1000000", "-grid", "50", "-minwin", "100", "-maxwin", "50000", "-all"]
    assert (
        scan(
            "-input",
            EDGE / "plain.ms",
            *pasted,
            "--precision",
            "compat",
            "--format",
            "omegaplus",
            "-o",
            out,
            "-d",
            device.index,
        )
        == 0
    )
    assert out.read_bytes() == (GOLDEN / "OmegaPlus_Report.plain").read_bytes()
    told = capsys.readouterr()
    assert told.out == ""
    assert "40 haplotypes, 300 sites; largest omega 30.2415 at 209,676 bp, window 205,469-213,869" in told.err


@pytest.mark.parametrize(
    ("name", "words"),
    [("nd", ["--grid", "5"]), ("ns", ["--grid", "3", "--no-separator"]), ("maf", ["--maf", "0.1", "--all"])],
)
def test_omegaplus_options(name, words, compat_cpu, tmp_path):
    out = tmp_path / "report"
    compat = ["--precision", "compat", "--format", "omegaplus", "-o", out]
    assert scan(*MS, *WINDOWS, *words, *compat, *compat_cpu) == 0
    assert out.read_bytes() == (GOLDEN / f"OmegaPlus_Report.{name}").read_bytes()


def test_one_report_per_chromosome(compat_cpu, tmp_path):
    words = [
        "--all",
        "--precision",
        "compat",
        "--format",
        "omegaplus",
        "--reports",
        "-o",
        tmp_path / "OmegaPlus_Report.tworep",
    ]
    assert scan(EDGE / "twochrom.vcf", *WINDOWS, *words, *compat_cpu) == 0
    assert sorted(path.name for path in tmp_path.iterdir()) == [
        "OmegaPlus_Report.tworep.chrA",
        "OmegaPlus_Report.tworep.chrB",
    ]
    for path in tmp_path.iterdir():
        assert path.read_bytes() == (GOLDEN / path.name).read_bytes()


def test_one_table_per_replicate(cpu, tmp_path):
    two = tmp_path / "two.ms"
    text = (EDGE / "plain.ms").read_text()
    two.write_text(text + "\n" + text[text.index("//") :])
    assert scan(two, "--length", "1M", *WINDOWS, "--reports", "-o", tmp_path / "out.tsv", *cpu) == 0
    first, second = (rows(tmp_path / f"out.{n}.tsv") for n in (1, 2))
    assert {row["replicate"] for row in second} == {"2"}
    assert [row["omega"] for row in first] == [row["omega"] for row in second]


def test_table_is_the_default_and_carries_its_provenance(cpu, tmp_path):
    out = tmp_path / "out.tsv"
    assert scan(EDGE / "twochrom.vcf", *WINDOWS, "-o", out, *cpu) == 0
    text = out.read_text()
    assert text.startswith("# program: oclgenomics\n")
    assert f"# command: oclgenomics omega scan {EDGE / 'twochrom.vcf'} --grid 50" in text
    assert "# device: name=" in text
    table = rows(out)
    assert [row["chromosome"] for row in table] == ["chrA"] * 50 + ["chrB"] * 50
    best = max((row for row in table if row["omega"] != "NA"), key=lambda row: float(row["omega"]))
    assert (best["chromosome"], best["left"], best["right"]) == ("chrB", "205469", "213869")
    assert 5 < int(best["window_sites"]) < 150


def test_equal_runs_give_equal_bytes(cpu, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    words = [*MS, *WINDOWS, "-o", "out.json", "--json", "--plot", "out.svg", *cpu]
    assert scan(*words) == 0
    before = [(tmp_path / name).read_bytes() for name in ("out.json", "out.svg")]
    assert scan(*words) == 0
    assert before == [(tmp_path / name).read_bytes() for name in ("out.json", "out.svg")]


def test_json_and_standard_streams(cpu):
    done = run("-", "--length", "1000000", *WINDOWS, "--json", "--quiet", *cpu, input=(EDGE / "plain.ms").read_text())
    assert done.returncode == 0
    assert done.stderr == ""
    (alignment,) = json.loads(done.stdout)["alignments"]
    assert alignment["maximum"]["left"] == 205469
    assert alignment["sites"] == 300


def test_summary_tells_what_was_left_out(cpu, capsys):
    assert scan(EDGE / "filters.vcf", *WINDOWS, "-o", os.devnull, *cpu) == 0
    assert "left out:" in capsys.readouterr().err


def test_a_file_of_which_nothing_is_read_says_why(cpu, tmp_path, capsys):
    path = tmp_path / "x.vcf"
    names = "\t".join(["#CHROM", "POS", "ID", "REF", "ALT", "QUAL", "FILTER", "INFO", "FORMAT", "a"])
    path.write_text(f"##fileformat=VCFv4.2\n{names}\n1\t5\t.\tA\tAT\t.\t.\t.\tGT\t0|1\n")
    assert scan(path, *WINDOWS, "-o", tmp_path / "out", *cpu) == 0
    assert "warning: 1: 2 haplotypes, 0 sites (left out: 1 not a SNP)" in capsys.readouterr().err
    assert main(["fpga", "project", str(path), *WINDOWS, "--no-measure", "-o", str(tmp_path / "p")]) == 0
    assert "warning: 1: no window holds enough of its 0 sites (left out: 1 not a SNP)" in capsys.readouterr().err
    assert main(["omega", "peaks", str(tmp_path / "out"), "--top", "3", "-o", str(tmp_path / "q")]) == 0
    assert "warning: nothing was found: none of the 0 positions" in capsys.readouterr().err


def test_fewer_than_four_sites(cpu, tmp_path, capsys):
    out = tmp_path / "few"
    words = ["--format", "omegaplus", "--all", "-o", out, "--plot", tmp_path / "few.png"]
    assert scan(EDGE / "few.ms", "--length", "1000000", *WINDOWS, *words, *cpu) == 0
    assert out.read_bytes() == (GOLDEN / "OmegaPlus_Report.few").read_bytes()
    told = capsys.readouterr().err
    assert "warning: 1: " in told
    assert "not possible" in told
    assert "warning: 1 of 1 alignments have no omega at all" in told
    assert (tmp_path / "few.png").stat().st_size > 1000


def test_chromosomes_of_too_few_sites_have_no_title(cpu, tmp_path):
    """OmegaPlus writes titles of chromosomes with the first row, and those of other formats with the alignment."""
    text = (EDGE / "twochrom.vcf").read_text()
    first = text.index("\nchrA") + 1
    few, out = tmp_path / "few.vcf", tmp_path / "out"
    few.write_text(text[:first] + text[first : text.index("\n", first) + 1].replace("chrA", "chr0") + text[first:])
    words = [*WINDOWS, "--format", "omegaplus", "-o", out, *cpu]
    assert scan(EDGE / "twochrom.vcf", *words) == 0
    whole = out.read_text()
    assert scan(few, *words) == 0
    assert out.read_text() == whole.replace("//2", "//3").replace("//1", "//2")


def test_gzip_replicates_and_figure(cpu, tmp_path, capsys):
    out, figure = tmp_path / "sweep.tsv", tmp_path / "sweep.png"
    words = ["--grid", "40", "--minwin", "1k", "--maxwin", "50k", "--length", "1M"]
    assert scan(DATA / "e_sweep50.ms.gz", *words, "-o", out, "--plot", figure, *cpu) == 0
    assert len(rows(out)) == 400
    assert figure.read_bytes().startswith(b"\x89PNG")
    told = capsys.readouterr().err
    assert "10 alignments, 400 positions" in told
    assert f"wrote {out}" in told
    assert f"wrote {figure}" in told


def test_samples(cpu, tmp_path):
    names = next(line for line in (EDGE / "phased.vcf").read_text().splitlines() if line.startswith("#CHROM")).split()[
        9:
    ]
    wanted = tmp_path / "wanted"
    wanted.write_text("\n".join(names[2:12]) + "\n")
    out, used = tmp_path / "out.json", tmp_path / "used"
    words = ["--samples", wanted, "--samples-out", used, "--json", "-o", out]
    assert scan(EDGE / "phased.vcf", *WINDOWS, *words, *cpu) == 0
    assert used.read_text().split() == names[2:12]
    assert json.loads(out.read_text())["alignments"][0]["haplotypes"] == 20


def test_unphased_calls_are_said_to_be_so(cpu, capsys):
    assert scan(EDGE / "unphased.vcf", *WINDOWS, "-o", os.devnull, *cpu) == 0
    told = re.search(r": ([\d,]+) of ([\d,]+) calls are heterozygous and unphased", capsys.readouterr().err)
    assert told
    count, calls = (int(number.replace(",", "")) for number in told.groups())
    (alignment,) = read_alignments(EDGE / "unphased.vcf")
    assert (count, calls) == (alignment.unphased_calls, alignment.sites * alignment.haplotypes // 2)
    assert 0 < count < calls


def test_one_unphased_call_among_many(cpu, tmp_path, capsys):
    lines = (EDGE / "phased.vcf").read_text().splitlines(keepends=True)
    record = next(i for i, line in enumerate(lines) if "0|1" in line and not line.startswith("#"))
    lines[record] = lines[record].replace("0|1", "0/1", 1)
    one = tmp_path / "one.vcf"
    one.write_text("".join(lines))
    words = [*WINDOWS, "-o", os.devnull, *cpu]
    assert scan(one, *words) == 0
    assert "1 of 6,000 calls is heterozygous and unphased, so r2 is computed from genotypes" in capsys.readouterr().err
    assert scan(one, *words, "--phase", "missing") == 0
    assert "1 of 6,000 calls is unphased and taken as missing" in capsys.readouterr().err
    assert scan(one, *words, "--phase", "strict") == 3
    assert f"line {record + 1}, " in capsys.readouterr().err
    assert scan(EDGE / "phased.vcf", *words, "--phase", "strict") == 0


def test_help_names_every_default(capsys):
    assert main(["omega", "scan", "--help"]) == 0
    shown = capsys.readouterr().out
    for option in ("--grid", "--minwin", "--border", "--samples-out", "--precision", "--plot", "--max-memory"):
        assert option in shown


def test_documentation_names_every_option():
    actions = argparse.ArgumentParser().add_subparsers()
    add_parser(actions)
    scan_parser = next(action for action in actions.choices["omega"]._actions if action.choices).choices["scan"]
    options = [word for action in scan_parser._actions for word in action.option_strings if word.startswith("--")]
    page = (TESTS.parent / "docs" / "omega.md").read_text()
    quiet_ones = {"--help", "--quiet", "--verbose"}
    assert [option for option in options if f"`{option}" not in page and option not in quiet_ones] == []
    assert [name for name in OMEGAPLUS_NAMES if f"`{name}`" not in page] == []


def test_readme_shows_a_command_that_parses():
    (command,) = re.findall(
        r"oclgenomics (omega scan tests/.*)$", (TESTS.parent / "README.md").read_text(), re.MULTILINE
    )
    words = command.split()
    args = argparse.ArgumentParser()
    add_parser(args.add_subparsers())
    parsed = args.parse_args(words)
    assert (TESTS.parent / parsed.input).is_file()
    assert scan_options(parsed).grid == 500


# Mistakes: one line, the exit code, no output


def test_the_number_of_reading_threads_does_not_change_the_report(cpu, tmp_path):
    source = tmp_path / "two.ms"
    source.write_text(2 * ((EDGE / "plain.ms").read_text().rstrip() + "\n\n"))
    for threads in (1, 3):
        assert scan(source, *MS[1:], *WINDOWS, *cpu, "--threads", threads, "-o", tmp_path / f"{threads}.tsv") == 0
    reports = [rows(tmp_path / f"{threads}.tsv") for threads in (1, 3)]
    assert len(reports[0]) == 100
    assert reports[0] == reports[1]


def assert_one_line(code: int, words: list[object], message: str, capsys, folder: Path) -> None:
    before = {path: path.read_bytes() for path in folder.rglob("*") if path.is_file() and os.access(path, os.R_OK)}
    assert scan(*words) == code
    told = capsys.readouterr()
    assert told.out == ""
    assert told.err.startswith("oclgenomics: error: ")
    assert told.err.count("\n") == 1, told.err
    assert message in told.err
    after = {path: path.read_bytes() for path in folder.rglob("*") if path.is_file() and os.access(path, os.R_OK)}
    assert before == after


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["--grid", "1"], "--grid 1: at least 2"),
        (["--grid", "3000M"], "--grid 3000000000: at most"),
        (["--grid", "x"], "not a whole number"),
        (["--grid", "2.5"], "not a whole number"),
        (["--maxwin", "50"], "--maxwin 50 is smaller than --minwin 100"),
        (["--minsnps", "0"], "--minsnps 0"),
        (["--border", "-2"], "--border -2"),
        (["--maf", "0.6"], "--maf 0.6"),
        (["--maf", "nan"], "--maf nan"),
        (["--ld", "R2"], "--ld R2: choose one of RSQUARE"),
        (["--precision", "double"], "--precision double: choose"),
        (["--kernel", "3"], "--kernel 3: choose"),
        (["--binary"], "--binary draws at random: give --seed"),
        (["--impute", "N"], "--impute draws at random: give --seed"),
        (["--impute", "X", "--seed", "1"], "--impute X: choose N, GAP or both"),
        (["--binary", "--seed", "0"], "--seed 0"),
        (["--phase", "guess"], "--phase guess"),
        (["--threads", "0"], "--threads 0: give 1 or more"),
        (["--length", "0"], "--length 0"),
        (["--input-format", "bcf"], "bcf"),
        (["--format", "xml"], "--format xml: choose one of tsv"),
        (["--json", "--format", "tsv"], "contradict"),
        (["--no-separator"], "--no-separator has no effect"),
        (["--reports"], "--reports writes several files; name them with -o"),
        (["--plot", "a.jpg"], "has to end in .png, .svg or .pdf"),
        (["-threads", "4"], "-threads: the device's own"),
        (["-name", "x"], "-name: use --format omegaplus -o"),
        (["--frobnicate"], "--frobnicate"),
        (["--max-memory", "lots"], "lots"),
    ],
)
def test_usage_errors(words, message, capsys, tmp_path):
    output = [] if "--reports" in words else ["-o", tmp_path / "out"]
    assert_one_line(2, [*MS, *WINDOWS, *output, *words], message, capsys, tmp_path)


def test_required_options(capsys, tmp_path):
    assert_one_line(2, [*MS, "--grid", "5"], "--minwin, --maxwin", capsys, tmp_path)
    assert_one_line(2, WINDOWS, "INPUT", capsys, tmp_path)


def test_outputs_must_differ_from_the_input_and_from_each_other(capsys, tmp_path):
    source = tmp_path / "in.ms"
    source.write_bytes((EDGE / "plain.ms").read_bytes())
    words = [source, "--length", "1M", *WINDOWS]
    assert_one_line(2, [*words, "-o", source], "the same file as the input", capsys, tmp_path)
    same = tmp_path / "x.png"
    assert_one_line(2, [*words, "-o", same, "--plot", same], "the same file as --plot", capsys, tmp_path)


def test_unknown_device(capsys, tmp_path):
    assert_one_line(
        4, [*MS, *WINDOWS, "-d", "no such device", "-o", tmp_path / "out"], "no such device", capsys, tmp_path
    )


def phased() -> str:
    return (EDGE / "phased.vcf").read_text()


def damaged(kind: str) -> bytes:
    """Inputs with one thing wrong each."""
    lines = phased().splitlines(keepends=True)
    first = next(number for number, line in enumerate(lines) if not line.startswith("#"))
    if kind == "truncated gzip":
        return gzip.compress(phased().encode())[:-2000]
    if kind == "damaged gzip":
        packed = bytearray(gzip.compress(phased().encode()))
        packed[len(packed) // 2] ^= 0xFF
        return bytes(packed)
    if kind == "no GT":
        return "".join([line.replace("\tGT\t", "\tDP\t") for line in lines]).encode()
    if kind == "positions go back":
        lines[first], lines[first + 9] = lines[first + 9], lines[first]
        return "".join(lines).encode()
    if kind == "cut row":
        return ("".join(lines[: first + 5]) + lines[first + 5][:60]).encode()
    if kind == "ms short row":
        ms = (EDGE / "plain.ms").read_text().splitlines()
        ms[10] = ms[10][:-3]
        return "\n".join(ms).encode()
    if kind == "ms letter":
        return (EDGE / "plain.ms").read_bytes().replace(b"0101", b"01x1", 1)
    if kind == "binary":
        return bytes(range(256)) * 20
    return b""


@pytest.mark.parametrize(
    ("kind", "message"),
    [
        ("truncated gzip", "gzip"),
        ("damaged gzip", "gzip"),
        ("no GT", "GT"),
        ("positions go back", "line"),
        ("cut row", "line"),
        ("ms short row", "line"),
        ("ms letter", "line"),
        ("binary", "bad"),
        ("empty", "empty"),
    ],
)
def test_bad_inputs(kind, message, cpu, capsys, tmp_path):
    source = tmp_path / "bad"
    source.write_bytes(damaged(kind))
    words = [source, "--length", "1000000", *WINDOWS, "-o", tmp_path / "out", "--plot", tmp_path / "out.png"]
    assert_one_line(3, [*words, *cpu], message, capsys, tmp_path)


def test_inputs_that_cannot_be_opened(cpu, capsys, tmp_path):
    out = ["--length", "1000000", *WINDOWS, "-o", tmp_path / "out", *cpu]
    assert_one_line(3, [tmp_path / "missing.vcf", *out], "missing.vcf", capsys, tmp_path)
    assert_one_line(3, [tmp_path, *out], "folder", capsys, tmp_path)
    if os.geteuid():
        closed = tmp_path / "closed.ms"
        closed.write_bytes((EDGE / "plain.ms").read_bytes())
        closed.chmod(0)
        assert_one_line(3, [closed, *out], "closed.ms", capsys, tmp_path)


def test_ms_needs_a_length(cpu, capsys, tmp_path):
    assert_one_line(3, [EDGE / "plain.ms", *WINDOWS, "-o", tmp_path / "out", *cpu], "--length", capsys, tmp_path)


def test_samples_that_are_not_there(cpu, capsys, tmp_path):
    wanted = tmp_path / "wanted"
    wanted.write_text("nobody\n")
    words = [EDGE / "phased.vcf", *WINDOWS, "--samples", wanted, "-o", tmp_path / "out", *cpu]
    assert_one_line(3, words, "nobody", capsys, tmp_path)


def test_samples_out_without_names(cpu, capsys, tmp_path):
    for option in ("--samples", "--samples-out"):
        words = [*MS, *WINDOWS, option, tmp_path / "names", "-o", tmp_path / "out", *cpu]
        assert_one_line(2, words, "does not name its samples", capsys, tmp_path)


@pytest.mark.parametrize(
    ("option", "name", "message"),
    [("-o", "none/out.tsv", "no folder"), ("--plot", "none/out.png", "no folder"), ("-o", ".", "is a folder")],
)
def test_outputs_that_cannot_be_made(option, name, message, capsys, tmp_path):
    assert_one_line(5, [*MS, *WINDOWS, option, tmp_path / name], message, capsys, tmp_path)


# Trouble in the middle


def limit_file_size() -> None:
    signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
    resource.setrlimit(resource.RLIMIT_FSIZE, (50_000, 50_000))


def test_disk_full_leaves_nothing(cpu, tmp_path):
    before = tmp_path / "out.tsv"
    before.write_text("earlier results\n")
    words = [*MS, "--grid", "5000", "--minwin", "100", "--maxwin", "50k", *cpu]
    assert scan(*words, "-o", os.devnull) == 0  # the kernels are built, and in their caches
    done = run(*words, "-o", before, preexec_fn=limit_file_size)
    assert done.returncode == 5, done.stderr
    assert "Traceback" not in done.stderr
    assert done.stderr.splitlines()[-1].startswith(f"oclgenomics: error: {before}: cannot be written")
    assert [path.name for path in tmp_path.iterdir()] == ["out.tsv"]
    assert before.read_text() == "earlier results\n"


@pytest.mark.parametrize("where", ["-o", "stdout"])
def test_full_device(where, cpu, tmp_path):
    words = [sys.executable, "-m", "oclgenomics", "omega", "scan", *MS, *WINDOWS, *cpu]
    words += ["-o", "/dev/full"] if where == "-o" else []
    with open("/dev/full", "w") as full:
        done = subprocess.run(words, stdout=full, stderr=subprocess.PIPE, text=True, timeout=120, cwd=tmp_path)
    assert done.returncode == 5, done.stderr
    assert "Traceback" not in done.stderr
    assert "No space left" in done.stderr.splitlines()[-1]


def test_reader_of_standard_output_goes_away(cpu):
    words = [
        sys.executable,
        "-m",
        "oclgenomics",
        "omega",
        "scan",
        *MS,
        *cpu,
        "--grid",
        "20000",
        "--minwin",
        "1",
        "--maxwin",
        "1k",
    ]
    process = subprocess.Popen(words, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    assert process.stdout is not None
    process.stdout.readline()
    process.stdout.close()
    assert process.stderr is not None
    told = process.stderr.read()
    process.stderr.close()
    assert process.wait(timeout=120) == 0, told
    assert "Traceback" not in told
    assert "BrokenPipe" not in told


@pytest.mark.parametrize("reports", [True, False])
def test_interrupt_keeps_whole_files_only(reports, cpu, tmp_path):
    many = tmp_path / "many.ms"
    text = (EDGE / "plain.ms").read_text()
    many.write_text(text + ("\n" + text[text.index("//") :]) * 1000)
    out = tmp_path / "out.tsv"
    command = [sys.executable, "-m", "oclgenomics", "omega", "scan", str(many), "--length", "1M", *WINDOWS, *cpu]
    command += ["-v", "-o", str(out), *(["--reports"] if reports else [])]
    process = subprocess.Popen(command, stderr=subprocess.PIPE, text=True)
    assert process.stderr is not None
    while not process.stderr.readline().startswith("oclgenomics: 3: 40 haplotypes"):
        assert process.poll() is None
    process.send_signal(signal.SIGINT)
    told = process.stderr.read().splitlines()[-1]
    process.stderr.close()
    assert process.wait(timeout=60) == 130, told
    assert told.startswith("oclgenomics: interrupted; saved: ")
    saved = {path.name for path in tmp_path.iterdir()} - {"many.ms"}
    assert saved == {Path(name).name for name in told.split("saved: ")[1].split(", ") if name != "nothing"}
    assert saved >= ({"out.1.tsv", "out.2.tsv"} if reports else set())
    assert all(len(rows(tmp_path / name)) == 50 for name in saved)


# Progress


class Terminal:
    def __init__(self) -> None:
        self.text = ""

    def isatty(self) -> bool:
        return True

    def write(self, text: str) -> None:
        self.text += text

    def flush(self) -> None:
        pass


def test_progress_is_drawn_on_a_terminal_and_wiped():
    terminal = Terminal()
    progress = Progress(terminal)
    progress.stage("scanning 20", "positions")
    progress.update(250, 1000)
    assert terminal.text == "\rscanning 20: 250 of 1,000 positions (25%)"
    progress.clear()
    assert terminal.text.endswith(" \r")


def test_progress_is_silent_elsewhere(capsys):
    progress = Progress()
    progress.stage("reading", "bytes")
    progress.update(1, 2)
    progress.clear()
    quiet = Terminal()
    Progress(quiet, enabled=False).update(1, 2)
    assert capsys.readouterr().err == quiet.text == ""


def test_progress_tells_rate_and_time_left():
    assert (
        describe("scanning", "positions", 500, 2000, 10.0) == "scanning: 500 of 2,000 positions (25%), 50/s, 0:30 left"
    )
    assert describe("scanning", "positions", 1, 7201, 1.0).endswith("2:00:00 left")
    assert describe("reading", "bytes", 500, None, 10.0) == "reading: 500 bytes, 50/s"
    assert describe("reading", "bytes", 0, 10, 10.0) == "reading: 0 of 10 bytes (0%)"
    assert (
        describe("reading", "MB", 5_500_000, 10_000_000, 2.0, 1e6) == "reading: 5.5 of 10.0 MB (55%), 2.8/s, 0:02 left"
    )
