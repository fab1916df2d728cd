"""`oclgenomics signatures scan`, from the command line to files: what the oracle finds, as the reports write it."""

from __future__ import annotations

import gzip
import io
import json
import signal
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
from helpers.signature_parts import Read, scan_parts

from oclgenomics.app.reports import write_reports
from oclgenomics.cli.main import main
from oclgenomics.runtime import Device
from oclgenomics.signatures.formats.reports import CertaintyReport, SummaryReport, make_report
from oclgenomics.signatures.options import ScanOptions


def random_reads(count: int, letters: int, seed: int) -> list[Read]:
    rng = np.random.default_rng(seed)
    alphabet, scores = np.array(list("ACGTNacgtR")), np.array([chr(33 + score) for score in range(42)])
    chances = [0.2] * 4 + [0.1] + [0.02] * 4 + [0.02]
    reads = []
    for i in range(count):
        size = int(rng.integers(0, letters))
        text, quality = "".join(rng.choice(alphabet, size, p=chances)), "".join(rng.choice(scores, size))
        reads.append(Read(f"read{i}", text, quality))
    return reads


READS = random_reads(40, 300, 1)
SIGNATURES = [("one", "ACGTN"), ("two", "gattaNN"), ("three", "NNNRYACGNT"), ("self", READS[3].letters[10:60])]


def fastq(reads: list[Read]) -> str:
    return "".join(f"@{read.name} more\n{read.letters}\n+\n{read.qualities}\n" for read in reads)


def fasta(reads: list[Read]) -> str:
    return "".join(f">{read.name}\tmore\n{read.letters[:80]}\n{read.letters[80:]}\n" for read in reads)


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    Path("x.fq").write_text(fastq(READS))
    Path("x.fa").write_text(fasta(READS))
    Path("half.fq.gz").write_bytes(gzip.compress(fastq(READS[:20]).encode()))
    Path("rest.fq").write_text(fastq(READS[20:]))
    Path("s.fa").write_text("".join(f">{name} virus\n{text}\n" for name, text in SIGNATURES))
    return tmp_path


def expected(format: str, options: ScanOptions, reads: list[Read] = READS) -> str:
    panel, parts = scan_parts(reads, SIGNATURES, options, 99)
    stream = io.BytesIO()
    write_reports(parts, [(stream, make_report(format, panel, options))])  # type: ignore[arg-type]
    return stream.getvalue().decode()


def without_comments(text: str) -> str:
    return "".join(line for line in text.splitlines(keepends=True) if not line.startswith(("# ", "@PG\t", "@CO\t")))


def scan(device: Device, *words: str, samples: str = "x.fq") -> int:
    return main(["signatures", "scan", *samples.split(), "s.fa", "-d", str(device.index), *words])


@pytest.mark.parametrize(
    ("words", "format", "options"),
    [
        ([], "tsv", ScanOptions()),
        (["--format", "course"], "course", ScanOptions()),
        (["--format", "bed", "--strand", "-"], "bed", ScanOptions(strand="-")),
        (["--overhang", "3", "--report", "read"], "tsv", ScanOptions("read", overhang=3)),
        (
            ["--overhang=4", "--overhang-at=end", "--json", "--max-mismatch=2"],
            "jsonl",
            ScanOptions(max_mismatches=2, overhang=4, overhang_at="end"),
        ),
        (["--json", "--strand", "both", "--report", "first"], "jsonl", ScanOptions(report="first", strand="both")),
        (["--report", "all", "--max-mismatch", "1"], "tsv", ScanOptions(report="all", max_mismatches=1)),
        (["--min-informative", "0.6", "--min-score=21.5"], "tsv", ScanOptions(min_informative=0.6, min_score=21.5)),
        (["--method", "brute", "--strand", "both"], "tsv", ScanOptions(strand="both")),
        (["--report", "read", "--strand", "both", "-k", "1"], "tsv", ScanOptions("read", "both", max_edits=1)),
        (["--json", "--report", "read", "--max-mismatch", "2"], "jsonl", ScanOptions("read", max_mismatches=2)),
        (
            ["--format", "sam", "--report", "all", "--max-mismatch", "2", "--strand", "both"],
            "sam",
            ScanOptions("all", "both", max_mismatches=2, alignments=True),
        ),
        (["--format", "sam", "--report", "read", "-k", "2"], "sam", ScanOptions("read", max_edits=2, alignments=True)),
        (["--format=paf", "--strand=both", "-k1"], "paf", ScanOptions(strand="both", max_edits=1, alignments=True)),
    ],
)
def test_matches_are_those_of_the_oracle(
    device: Device, folder: Path, words: list[str], format: str, options: ScanOptions,
    capsys: pytest.CaptureFixture[str],
) -> None:  # fmt: skip
    assert scan(device, *words) == 0
    assert without_comments(capsys.readouterr().out) == expected(format, options)


def test_fasta_and_several_files(device: Device, folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert scan(device, samples="half.fq.gz rest.fq") == 0
    assert without_comments(capsys.readouterr().out) == expected("tsv", ScanOptions())
    assert scan(device, samples="x.fa") == 0
    plain = [Read(read.name, read.letters) for read in READS]
    assert without_comments(capsys.readouterr().out) == expected("tsv", ScanOptions(), plain)
    assert scan(device, "--format", "sam", "--strand", "both", "-k", "1", samples="x.fa") == 0
    options = ScanOptions(strand="both", max_edits=1, alignments=True)
    assert without_comments(capsys.readouterr().out) == expected("sam", options, plain)


def test_standard_input(
    device: Device, folder: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    for text, words in ((Path("x.fq").read_bytes(), ["-", "s.fa"]), (Path("s.fa").read_bytes(), ["x.fq", "-"])):
        monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(text)))
        assert main(["signatures", "scan", *words, "-d", str(device.index), "-q"]) == 0
        assert without_comments(capsys.readouterr().out) == expected("tsv", ScanOptions())


def test_files(device: Device, folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    words = ["-o", "out.tsv", "--summary", "sum.tsv", "--sample-report", "sure.tsv", "--plot", "x.svg"]
    assert scan(device, *words, "--profile", "trace.json") == 0
    out, err = capsys.readouterr()
    assert out == ""
    assert Path("x.svg").read_text().startswith("<?xml")
    assert json.loads(Path("trace.json").read_text())
    panel, parts = scan_parts(READS, SIGNATURES, size=99)
    streams = [io.BytesIO(), io.BytesIO()]
    reports = [SummaryReport(panel), CertaintyReport(panel, ScanOptions())]
    write_reports(parts, list(zip(streams, reports, strict=True)))
    assert without_comments(Path("out.tsv").read_text()) == expected("tsv", ScanOptions())
    assert without_comments(Path("sum.tsv").read_text()) == streams[0].getvalue().decode()
    assert without_comments(Path("sure.tsv").read_text()) == streams[1].getvalue().decode()
    for name in ("out.tsv", "sum.tsv", "sure.tsv"):
        head = Path(name).read_text().splitlines()[:5]
        assert [line.split(":")[0] for line in head] == [
            "# program", "# version", "# command", "# parameters", "# device",
        ]  # fmt: skip
        assert f"wrote {name}" in err
    letters = sum(len(read.letters) for read in READS)
    assert f"40 samples, {letters:,} bp; " in err
    assert " matches of 4 signatures in " in err


def test_lines_of_the_course_are_bare(device: Device, folder: Path) -> None:
    assert scan(device, "--format", "course", "-o", "out.txt", "-q") == 0
    assert Path("out.txt").read_text().startswith("read")


@pytest.mark.parametrize(
    ("text", "warning"),
    [
        ("@a\nAC\n+\nII\n", "no sample is as long as a signature: the shortest has 5 bp, the longest sample 2"),
        ("@a\nACGTACGT\n+\nIIIIIIII\n", "2 of 4 signatures are longer than every sample"),
        (
            fastq([Read("hot", "ACGT" * 300, "h" * 1200)]),
            "the lowest quality of all is 71: if qualities are Phred + 64",
        ),
        (fastq([Read("a", "ACGTA" * 12, "#" * 60)] * 2), "1 sample with matches and the name of another one"),
        (fastq(READS), None),
    ],
)
def test_warnings(
    device: Device, folder: Path, text: str, warning: str | None, capsys: pytest.CaptureFixture[str]
) -> None:
    Path("y.fq").write_text(text)
    assert scan(device, samples="y.fq") == 0
    warnings = [line for line in capsys.readouterr().err.splitlines() if ": warning: " in line]
    assert len(warnings) == (warning is not None)
    assert (warning or "") in "".join(warnings)


def test_quiet(device: Device, folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert scan(device, "-q", "-o", "out.tsv") == 0
    assert capsys.readouterr() == ("", "")


@pytest.mark.parametrize(
    ("line", "status", "message"),
    [
        ("x.fq s.fa --format course --strand both", 2, "--strand both: lines of the course tell of --strand + alone"),
        ("x.fq s.fa --format course --strand -", 2, "--strand -: lines of the course"),
        ("x.fq s.fa --format course --report all", 2, "--report all: lines of the course tell of --report best alone"),
        ("x.fa s.fa --format course", 3, "x.fa: is FASTA, which has no qualities for the lines of the course"),
        ("x.fa s.fa --min-score 20", 3, "x.fa: is FASTA, which has no qualities that --min-score could look at"),
        ("x.fq s.fa --report all --sample-report y", 2, "--report all: --sample-report has a line for each signature"),
        ("x.fq s.fa --json --format bed", 2, "--json and --format bed contradict"),
        ("x.fq s.fa --threads 0", 2, "--threads 0: give 1 or more"),
        ("x.fq s.fa --max-mismatch 8", 2, "--max-mismatch 8: 0 to 7 can be found exactly"),
        ("x.fq s.fa --min-informative 1.1", 2, "--min-informative 1.1: a share is 0 to 1"),
        ("x.fq s.fa --min-score nan", 2, "--min-score nan: qualities are 0 to 93"),
        ("x.fq s.fa --plot x.jpg", 2, "--plot x.jpg: the name has to end in"),
        ("x.fq s.fa --plot y.png --summary y.png", 2, "--plot y.png: the same file as --summary y.png"),
        ("x.fq s.fa --summary -", 2, "both go to standard output"),
        ("- x.fq -", 2, "standard input (-) can be read once"),
        ("x.fq", 2, "SIGNATURES"),
        ("x.fq s.fa --strand", 2, "--strand: expected one argument"),
        ("none.fq s.fa", 3, "none.fq: no such file"),
        ("x.fq none.fa", 3, "none.fa: no such file"),
        ("x.fq bad.fa", 3, "bad.fa, record 1, byte 5: signature a, base 3: '!' is no nucleotide"),
        ("bad.fq s.fa", 3, "bad.fq, record 1"),
        ("x.fq s.fa -o none/y", 5, "there is no folder none"),
        ("x.fq s.fa -d nonesuch", 4, "no device matches"),
    ],
)
def test_errors_are_one_line(
    folder: Path, line: str, status: int, message: str, capsys: pytest.CaptureFixture[str]
) -> None:
    Path("bad.fa").write_text(">a\nAC!T\n")
    Path("bad.fq").write_text("@a\nACGT\n+\nIII\n")
    before = sorted(path.name for path in folder.iterdir())
    assert main(["signatures", "scan", *line.split(), "-q"]) == status
    out, err = capsys.readouterr()
    assert out == ""
    assert message in err
    assert err.count("\n") == 1
    assert sorted(path.name for path in folder.iterdir()) == before


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGKILL])
def test_a_scan_that_is_stopped_prints_what_it_found_and_leaves_no_file(
    folder: Path, number: signal.Signals, device: Device
) -> None:
    before = sorted(folder.iterdir())
    words = f"signatures scan - s.fa --format course --summary y.tsv --plot y.png -q -d {device.index}"
    with subprocess.Popen(
        [sys.executable, "-m", "oclgenomics", *words.split()],
        stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
    ) as scan:  # fmt: skip
        assert scan.stdin is not None
        assert scan.stdout is not None
        scan.stdin.write(fastq([Read("first", "GATTACA", "I" * 7)]).encode())
        scan.stdin.flush()
        assert scan.stdout.readline() == b"first: two (40.000) [86]\n"  # while more may come
        scan.send_signal(number)
        scan.wait(timeout=60)  # its input stays open, as its end would let the scan end in order
    assert scan.returncode == (143 if number == signal.SIGTERM else -number)
    assert sorted(folder.iterdir()) == before
