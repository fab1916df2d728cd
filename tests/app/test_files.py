"""Outputs never destroy inputs or each other, whatever the command and however the files are spelled."""

from __future__ import annotations

import argparse
import os
import shlex
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
from helpers.kmer_sets import GOLDEN, pairs_of, set_of, write_database
from helpers.parsers import PARSERS

from oclgenomics.app import files as kit
from oclgenomics.app.commands import _trace_path
from oclgenomics.app.files import (
    Family,
    FileConflictError,
    NamedFile,
    check_files,
    check_output,
    file_key,
    role_of,
)
from oclgenomics.cli.main import main
from oclgenomics.omega.commands.scan import ReportNames

EDGE = Path(__file__).parents[1] / "data" / "omega" / "edge"
WINDOWS = ["--grid", "5", "--minwin", "100", "--maxwin", "50k"]

# Options that take words of other kinds. One that names a file has to be declared with reads, writes or works_in.
NO_FILES = {
    "abundance_per", "ancestral_confidence", "assembly_level", "at", "between", "combine", "comment", "counts", "deme",
    "device", "ehh_edge", "engine", "format", "fpr",
    "gtdb_source", "highest", "impute", "input_format", "kernel", "ld", "listen", "loop", "lowest", "missing",
    "name", "names", "on_exclude", "operation", "patterns", "phase", "pore", "precision", "rank", "ranks", "region",
    "remove_ambiguous", "sample_name", "separator", "sequence_id_format", "sequences", "settings", "source",
    "stages", "statistic", "statistics", "target_class", "title", "top", "workers",
}  # fmt: skip


def takes_words(action: argparse.Action) -> bool:
    """Whether its value is text of any kind: not a flag, a number or one of some words."""
    return action.nargs != 0 and action.choices is None and action.type in (None, str, _trace_path)


@pytest.mark.parametrize("name", PARSERS)
def test_every_option_that_names_a_file_says_so(name: str) -> None:
    for action in PARSERS[name]._actions:
        if takes_words(action):
            assert (role_of(action) is None) == (action.dest in NO_FILES), f"{action.dest} is not declared"


@pytest.mark.parametrize("name", PARSERS)
def test_every_option_has_help_that_tells_its_default(name: str) -> None:
    for action in PARSERS[name]._actions:
        assert action.help, f"{action.dest} has no help"
        takes_value = bool(action.option_strings) and action.nargs != 0 and not action.required
        if takes_value and action.default not in (None, False, "", argparse.SUPPRESS, []):
            assert "default" in action.help, f"{action.dest} does not tell its default"


def test_there_are_parsers_to_look_at() -> None:
    assert len(PARSERS) > 20
    written = {name: {a.dest for a in parser._actions if role_of(a) == "output"} for name, parser in PARSERS.items()}
    outputs = {name for name, dests in written.items() if dests - {"versions"}}
    without = {"devices", "doctor", "classify verify", "sdtw fetch-model", "simulate genomes", "worker"}
    assert {name for name in PARSERS if name not in outputs} == {f"oclgenomics {name}" for name in without}


# Files, compared


def test_links_and_other_spellings_are_the_same_file(tmp_path: Path) -> None:
    (tmp_path / "x").write_text("")
    (tmp_path / "soft").symlink_to("x")
    os.link(tmp_path / "x", tmp_path / "hard")
    (tmp_path / "folder").mkdir()
    source = NamedFile("the input", str(tmp_path / "x"), "input")
    for name in ("x", "soft", "hard", "folder/../x"):
        with pytest.raises(FileConflictError, match=r"-o .*: the same file as the input .*x; choose another name"):
            check_output(NamedFile("-o", f"{tmp_path}/{name}", "output"), [source])
    check_output(NamedFile("-o", str(tmp_path / "y"), "output"), [source])


def test_outputs_that_are_not_there_are_compared_by_path(tmp_path: Path) -> None:
    (tmp_path / "link").symlink_to("new")
    one, two = (NamedFile(option, str(tmp_path / name), "output") for option, name in (("-o", "new"), ("-p", "link")))
    with pytest.raises(FileConflictError, match=r"-p .*: the same file as -o .*new"):
        check_files([one, two])


def test_devices_and_pipes_may_be_named_twice(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe")
    for name in (os.devnull, str(tmp_path / "pipe")):
        check_files([NamedFile("the input", name, "input"), NamedFile("-o", name, "output")])
    with pytest.raises(FileConflictError, match="both go to standard output"):
        check_files([NamedFile("-o", "-", "output"), NamedFile("--values", "-", "output")])


@pytest.mark.parametrize(
    "words",
    [
        "kmers count x.fa -k 5 -o -",
        "kmers merge a b -o -",
        "signatures build x.fa -o -",
        "sdtw index x.fa -o - --model r9.4.1",
        "classify build - x.fa",
        "classify add a x.fa -o -",
    ],
)
def test_databases_are_files(words: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(words.split()) == 2
    assert "is not written to standard output; name a file" in capsys.readouterr().err


def test_standard_input_is_named_once(tmp_path: Path) -> None:
    one, two = (NamedFile(option, "-", "input") for option in ("the input", "--only"))
    check_files([one, NamedFile("-o", "-", "output")])
    with pytest.raises(FileConflictError, match=r"standard input \(-\) can be read once; name files for the others"):
        check_files([one, two])
    pipe = str(tmp_path / "pipe")
    os.mkfifo(pipe)
    with pytest.raises(FileConflictError, match="pipe is a pipe, which can be read once"):
        check_files([NamedFile("the input", pipe, "input"), NamedFile("--only", pipe, "input")])


def test_a_store_is_not_written_into(tmp_path: Path) -> None:
    (tmp_path / "x.vcz" / "inner").mkdir(parents=True)
    (tmp_path / "x.vcz" / "inner" / "chunk").write_text("")
    store = NamedFile("the input", str(tmp_path / "x.vcz"), "input")
    check_output(NamedFile("-o", str(tmp_path / "x.vcz" / "inner" / "new"), "output"), [store])
    with pytest.raises(FileConflictError, match="lies within the input"):
        check_output(NamedFile("-o", str(tmp_path / "x.vcz" / "inner" / "chunk"), "output"), [store])


def test_what_is_not_there_cannot_be_lost(tmp_path: Path) -> None:
    name = str(tmp_path / "u200")
    check_files([NamedFile("--board", name, "input"), NamedFile("-o", name, "output")])


def test_a_family_of_outputs(tmp_path: Path) -> None:
    (tmp_path / "x.1.tsv").write_text("")
    reports = NamedFile("-o", Family(str(tmp_path / "x."), ".tsv"), "output")
    with pytest.raises(FileConflictError, match=r"x\.1\.tsv could be the same file as the input"):
        check_files([NamedFile("the input", str(tmp_path / "x.1.tsv"), "input"), reports])
    check_files([NamedFile("the input", str(tmp_path / "y.1.tsv"), "input"), reports])
    assert kit.matching_files(reports.name) == [str(tmp_path / "x.1.tsv")]  # type: ignore[arg-type]


# Reports of their own


def written(names: ReportNames, labels: list[str]) -> list[str]:
    found = []
    for number, label in enumerate(labels, start=1):
        found.append(names.name(label, number))
        Path(found[-1]).write_text(label)
    return [Path(name).name for name in found]


def test_no_report_is_written_over(tmp_path: Path) -> None:
    names = ReportNames(str(tmp_path / "x.tsv"), [])
    assert written(names, ["A.4", "A", "B", "A", "A.4", "A.4.5", "a/b", "a_b"]) == [
        "x.A.4.tsv", "x.A.tsv", "x.B.tsv", "x.A.4.2.tsv", "x.A.4.5.tsv", "x.A.4.5.6.tsv", "x.a_b.tsv", "x.a_b.8.tsv",
    ]  # fmt: skip
    assert (tmp_path / "x.A.4.tsv").read_text() == "A.4"


def test_no_name_is_given_out_twice(tmp_path: Path) -> None:
    names = ReportNames(str(tmp_path / "x"), [])
    assert [Path(names.name("A", 1)).name for _ in range(3)] == ["x.A", "x.A.1", "x.A.1.2"]


def test_reports_keep_clear_of_other_files(tmp_path: Path) -> None:
    source, plot = tmp_path / "x.vcf", tmp_path / "x.png"
    source.write_text("")
    names = ReportNames(
        str(tmp_path / "x"), [NamedFile("the input", str(source), "input"), NamedFile("--plot", str(plot), "output")]
    )
    assert written(names, ["png", "\x1b[2J"]) == ["x.png.1", "x._[2J"]
    with pytest.raises(FileConflictError, match=r"--reports .*: the same file as the input"):
        names.name("vcf", 2)


def test_an_output_that_was_there_before_is_kept_when_it_is_new(tmp_path: Path) -> None:
    (tmp_path / "x.A.tsv").write_text("before")
    names = ReportNames(str(tmp_path / "x.tsv"), [NamedFile("--samples-out", str(tmp_path / "x.A.tsv"), "output")])
    (tmp_path / "new").write_text("samples")
    (tmp_path / "new").replace(tmp_path / "x.A.tsv")
    assert written(names, ["A", "A", "B"]) == ["x.A.1.tsv", "x.A.2.tsv", "x.B.tsv"]
    assert (tmp_path / "x.A.tsv").read_text() == "samples"


def test_a_link_to_a_report_is_that_report(tmp_path: Path) -> None:
    (tmp_path / "x.B.tsv").symlink_to("x.A.tsv")
    assert written(ReportNames(str(tmp_path / "x.tsv"), []), ["A", "B"]) == ["x.A.tsv", "x.B.2.tsv"]


def test_keys_of_streams() -> None:
    assert file_key("-", -1) == ("stream", -1)


# Commands


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Inputs of every kind."""
    monkeypatch.chdir(tmp_path)
    shutil.copy(EDGE / "plain.ms", "x.1.tsv")
    shutil.copy(EDGE / "phased.vcf", "v.vcf")
    shutil.copy(EDGE / "phased.vcf", "p.png")
    Path("s").write_text("sample1\n")
    Path("list").write_text("1\n200\n")
    Path("a.toml").write_text("unroll = 16\n")
    Path("x.fa").write_text(">r\nACGTACGTACGTACGT\n")
    for name in ("d", "e", "d.kmc_pre"):
        write_database(tmp_path / name, set_of(pairs_of(GOLDEN[0][3], GOLDEN[0][1]), GOLDEN[0][1], GOLDEN[0][2]))
    Path("q.fa").write_text(">r\nACATG\n")
    Path("reads.txt").write_text("x.fa\n")
    Path("pairs.txt").write_text("q.fa\n")
    Path("r.tsv").write_text("## oclgenomics\nchromosome\tposition\tomega\tstart\tend\n1\t5\t1.5\t1\t9\n")
    Path("t.json").write_text("{}\n")
    return tmp_path


DESTROYING = [
    "kmers count x.fa -k 5 -o x.fa",
    "kmers count - -k 5 -o x.fa",  # standard input is x.fa
    "kmers count x.fa -k 5 -o y --profile y.json --json",
    "kmers count @reads.txt -k 5 -o reads.txt",
    "kmers count x.fa -k 5 --only @reads.txt -o reads.txt",
    "kmers histogram @reads.txt -k 5 -o reads.txt",
    "kmers histogram @reads.txt -k 5 --plot reads.txt -o y",
    "kmers matrix @reads.txt -k 5 -o reads.txt",
    "kmers matrix a=@reads.txt -k 5 -o reads.txt",
    "kmers matrix a=x.fa,@reads.txt -k 5 -o reads.txt",
    "kmers matrix d --only @reads.txt -o reads.txt",
    "kmers filter d @reads.txt -o reads.txt",
    "signatures filter @reads.txt s.fa -o reads.txt",
    "kmers filter d --paired @reads.txt @pairs.txt -o pairs.txt",
    "kmers query d --file @reads.txt -o reads.txt",
    "signatures scan @reads.txt q.fa -o reads.txt",
    "signatures scan @reads.txt q.fa --summary reads.txt",
    "classify query y @reads.txt -o reads.txt",
    "classify query y @reads.txt --kreport reads.txt",
    "classify query y --paired @reads.txt @pairs.txt -o pairs.txt",
    "classify run @reads.txt --targets x.fa -o reads.txt",
    "classify run x.fa --targets @reads.txt --krona reads.txt",
    "classify build reads.txt @reads.txt",
    "classify add x.fa @reads.txt -o reads.txt",
    "kmers dump d -o d",
    "kmers dump d.kmc_pre --format kmc -o d",
    "kmers histogram d -o d",
    "kmers histogram d --plot d",
    "kmers histogram d -o y.png --plot y.png",
    "kmers info d -o d",
    "kmers histogram x.fa -k 5 -o x.fa",
    "kmers count x.fa -k 5 --only q.fa -o q.fa",
    "kmers matrix d e -o e",
    "kmers matrix a=d b=x.fa,q.fa -k 5 -o q.fa",
    "kmers matrix d --only e -o e",
    "kmers merge d e -o e",
    "kmers query d ACATG -o d",
    "kmers query d --file q.fa -o q.fa",
    "omega scan x.1.tsv --length 1M --reports -o x.tsv",
    "omega scan v.vcf -o v.vcf",
    "omega scan v.vcf --samples s -o s",
    "omega scan v.vcf --samples s --samples-out s -o y",
    "omega scan v.vcf --samples-out y -o y",
    "omega scan v.vcf --samples-out -",
    "omega scan v.vcf --exclude s -o s",
    "omega scan v.vcf --plot y.png --threshold t.json -o t.json",
    "omega scan p.png --plot p.png -o y",
    "omega scan v.vcf -o y.json --profile y.json",
    "omega threshold x.1.tsv --length 1M -o x.1.tsv",
    "omega threshold x.1.tsv --length 1M --scan r.tsv -o r.tsv",
    "omega threshold x.1.tsv --length 1M --sweeps x.1.tsv --site 5 -o x.1.tsv",
    "omega peaks r.tsv --top 5 -o r.tsv",
    "omega peaks r.tsv --threshold t.json -o t.json",
    "omega ld v.vcf --scan r.tsv -o r.tsv",
    "omega ld v.vcf --region 1:1-9 --values v.vcf",
    "omega ld v.vcf --region 1:1-9 -o y.tsv --values y.tsv",
    "signatures scan x.fa q.fa -o x.fa",
    "signatures scan x.fa q.fa -o q.fa",
    "signatures scan x.fa q.fa --summary q.fa",
    "signatures scan x.fa q.fa --sample-report y -o y",
    "signatures scan p.png q.fa --plot p.png -o y",
    "signatures scan - q.fa -o x.fa",  # standard input is x.fa
    "signatures build x.fa -o x.fa",
    "signatures info x.fa -o x.fa",
    "classify query x.fa q.fa -o q.fa",
    "classify query x.fa q.fa -o x.fa",
    "classify query y x.fa --paired q.fa p.png --kreport q.fa",
    "classify query y x.fa --classified-out x.fa",
    "classify query y x.fa --classified-out z#.fq --unclassified-out z_2.fq",
    "classify query y - -o x.fa",  # standard input is x.fa
    "classify query y x.fa --krona z --abundances z",
    "classify query p.png x.fa --plot p.png",
    "classify query y x.fa --bracken x.fa",
    "classify query y x.fa --cami-profile x.fa",
    "classify query y x.fa --hits-per-ref x.fa",
    "classify build x.fa x.fa",
    "classify build list x.fa --taxpostmap list",
    "classify add x.fa q.fa -o q.fa",
    "classify add x.fa x.fa",
    "classify info x.fa -o x.fa",
    "classify evaluate x.fa --truth list --taxonomy y -o list",
    "classify evaluate x.fa --truth list --taxonomy y --plot p.png -o p.png",
    "classify serve x.fa --socket x.fa",
    "classify run q.fa --targets x.fa -o x.fa",
    "classify run q.fa --targets x.fa --cami q.fa",
    "classify merge x.fa q.fa --taxonomy y -o q.fa",
    "classify plot x.fa p.png -o p.png",
    "fpga timing --board a.toml -o a.toml",
    "fpga report --positions list -o list",
    "fpga project --compare a.toml -o a.toml",
    "fpga project v.vcf --samples s -o s",
    "fpga project --positions list -o list",
    "fpga run v.vcf --samples s -o s",
    "fpga run v.vcf -o y.png --plot y.png",
    "fpga trace --vcd y -o y",
    "fpga validate --table list -o list",
    "fpga curve -o y.png --plot y.png",
]


NAMELESS = [
    ("classify query x.fa q.fa --kreport ''", "--kreport"),
    ("classify query x.fa q.fa -o ''", "-o"),
    ("classify query x.fa ''", "the input"),
    ("classify query x.fa q.fa --paired q.fa ''", "--paired"),
    ("classify build '' x.fa", "the output"),
    ("kmers count '' -k 5 -o y", "the input"),
    ("omega scan v.vcf --plot ''", "--plot"),
    ("omega scan v.vcf --samples ''", "--samples"),
]


@pytest.mark.parametrize(("line", "option"), NAMELESS)
def test_names_are_not_empty(line: str, option: str, folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """As they are where a variable of a script is not set."""
    assert main(shlex.split(line) + (WINDOWS if line.startswith("omega") else [])) == 2
    assert capsys.readouterr().err == f"oclgenomics: error: {option}: the name is empty\n"


@pytest.mark.parametrize("line", DESTROYING)
def test_no_command_destroys_a_file(
    line: str, folder: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    words = line.split() + (
        WINDOWS if line.startswith(("omega scan", "omega threshold", "fpga project v", "fpga run v")) else []
    )
    if "y --profile" in line:
        words[words.index("y")] = "y.json"
    before = {path.name: path.read_bytes() for path in folder.iterdir()}
    stdin = os.dup(0)
    with open("x.fa") as source:
        os.dup2(source.fileno(), 0)
        try:
            assert main(words) == 2
        finally:
            os.dup2(stdin, 0)
            os.close(stdin)
    out, err = capsys.readouterr()
    assert out == ""
    (told,) = err.splitlines()
    assert told.startswith(("oclgenomics: error: -", "oclgenomics: error: the output "))
    assert "the same file as" in told or "standard output" in told
    assert {path.name: path.read_bytes() for path in folder.iterdir()} == before


IN_FOLDERS = [
    "classify build taxonomy/names.dmp x.fa --taxonomy taxonomy",
    "classify build taxonomy/nucl_gb.accession2taxid x.fa --taxonomy taxonomy",
    "classify build taxonomy/assembly_summary_refseq.txt x.fa --taxonomy taxonomy",
    "classify build taxonomy/assembly_summary.txt taxonomy/x.fna",
    "classify evaluate x.fa --truth list --taxonomy taxonomy -o taxonomy/nodes.dmp",
    "classify merge x.fa --taxonomy taxonomy -o taxonomy/merged.dmp",
    "simulate reads --seed 1 --genomes world -o world/genomes.tsv",
    "simulate reads --seed 1 --genomes world -o world/references/x.fna",
    "simulate reads --seed 1 --genomes world -o y --truth world/strains/x.fna",
]


@pytest.mark.parametrize("line", IN_FOLDERS)
def test_nor_one_in_a_folder_that_is_read(line: str, folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    places = {word for word in line.split() if "/" in word}
    for place in {*places, "taxonomy/nodes.dmp", "world/genomes.tsv"}:
        Path(place).parent.mkdir(parents=True, exist_ok=True)
        Path(place).write_text(place)
    assert main(line.split()) == 2
    (told,) = capsys.readouterr().err.splitlines()
    assert "the same file as" in told or "lies within" in told
    assert all(Path(place).read_text() == place for place in places)


def test_a_file_that_standard_output_is_appended_to(folder: Path) -> None:
    command = [sys.executable, "-m", "oclgenomics", "kmers", "query", "d", "--file", "q.fa"]
    with open("q.fa", "a") as appended:
        done = subprocess.run(command, stdout=appended, stderr=subprocess.PIPE, text=True, check=False)
    assert done.returncode == 2
    assert "-o -: the same file as --file q.fa" in done.stderr
    assert Path("q.fa").read_text() == ">r\nACATG\n"


def test_presets_and_numbers_are_no_files(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    Path("u200").write_text("")
    assert main(["fpga", "timing", "--board", "u200", "-o", "u200"]) == 0
    assert "rate" in Path("u200").read_text()


def test_names_of_chromosomes_that_look_like_those_of_reports(folder: Path) -> None:
    text = Path("v.vcf").read_text()
    head = [line for line in text.splitlines() if line.startswith("#")]
    rows = [line.partition("\t")[2] for line in text.splitlines() if not line.startswith("#")]
    runs = [f"{name}\t{row}" for name in ("A.4", "A", "a/b", "a_b") for row in rows]
    Path("runs.vcf").write_text("\n".join([*head, *runs, ""]))
    assert main(["omega", "scan", "runs.vcf", *WINDOWS, "--reports", "-o", "x.tsv", "-q"]) == 0
    named = {}
    for path in folder.glob("x.*.tsv"):
        if path.name != "x.1.tsv":
            rows = [line for line in path.read_text().splitlines() if line and not line.startswith(("#", "chrom"))]
            named[path.name] = {row.split("\t")[0] for row in rows}
    assert len(named) == 4
    assert {"x.A.4.tsv", "x.A.tsv"} < set(named)
    assert sorted(named.values(), key=min) == [{"A"}, {"A.4"}, {"a/b"}, {"a_b"}]


def test_chromosomes_that_come_again_are_refused(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    text = Path("v.vcf").read_text()
    head = [line for line in text.splitlines() if line.startswith("#")]
    rows = [line.partition("\t")[2] for line in text.splitlines() if not line.startswith("#")]
    runs = [f"{name}\t{row}" for name in ("A", "B", "A") for row in rows]
    Path("runs.vcf").write_text("\n".join([*head, *runs, ""]))
    assert main(["omega", "scan", "runs.vcf", *WINDOWS, "-o", "x.tsv", "-q"]) == 3
    assert "records of A come again after those of another chromosome" in capsys.readouterr().err
    assert not Path("x.tsv").exists()
