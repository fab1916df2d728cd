"""Standard streams that are closed, full, of another encoding or a terminal."""

from __future__ import annotations

import errno
import json
import os
import pty
import resource
import subprocess
import sys
import warnings
import xml.dom.minidom
from pathlib import Path

import pytest

from oclgenomics.app.streams import printable
from oclgenomics.cli.main import main

PROGRAM = [sys.executable, "-m", "oclgenomics"]
MODEL = [sys.executable, "-m", "hls_model"]
WINDOWS = ["--grid", "5", "--minwin", "1", "--maxwin", "50k"]
TIMING = [*PROGRAM, "fpga", "timing"]
# With what is known of devices, or nothing: it is what it writes that counts here, and a test of them takes seconds.
KNOWN = """
import runpy
from oclgenomics.runtime import trust
trust.examine = lambda device: trust.kept_verdict(device) or trust.Verdict({})
runpy.run_module("oclgenomics", run_name="__main__")
"""
DOCTOR = [sys.executable, "-c", KNOWN, "doctor", "--json"]


def run(words: list[str], redirection: str = "", **options: object) -> subprocess.CompletedProcess[bytes]:
    """Run a command under a shell's redirection; what is not redirected is captured."""
    shell = ["sh", "-c", f'exec "$@" {redirection}', "sh", *map(str, words)]
    return subprocess.run(shell, capture_output=True, timeout=300, check=False, **options)  # type: ignore[call-overload]


def fails_in_one_line(done: subprocess.CompletedProcess[bytes], status: int, said: str) -> None:
    assert done.returncode == status, done.stderr
    assert done.stdout == b""
    (line,) = done.stderr.decode().splitlines()
    assert said in line


TO_OUTPUT = [
    [*PROGRAM, "--help"],
    [*PROGRAM, "--version"],
    [*PROGRAM, "omega", "scan", "--help"],
    [*PROGRAM, "devices"],
    [*PROGRAM, "devices", "--json"],
    DOCTOR,
    TIMING,
    [*MODEL, "timing", "-q"],
    [*MODEL, "timing", "-q", "--help"],
    [*PROGRAM, "simulate", "omega", "--seed", "1", "--replicates", "1", "--length", "1000", "-o", "-"],
]


@pytest.mark.each_value
@pytest.mark.parametrize(
    ("redirection", "why"),
    [("> /dev/full", "No space left on device"), (">&-", "it is closed")],
    ids=["full", "closed"],
)
@pytest.mark.parametrize("words", TO_OUTPUT, ids=lambda words: " ".join(words[2:]).replace(KNOWN, "oclgenomics"))
def test_output_that_cannot_be_written(words: list[str], redirection: str, why: str) -> None:
    told = f"error: standard output: cannot be written ({why}); nothing was written"
    fails_in_one_line(run(words, redirection), 5, told)


@pytest.mark.each_value
@pytest.mark.parametrize("words", [TIMING, [*MODEL, "timing", "-q"], TO_OUTPUT[-1], [*PROGRAM, "--help"]])
@pytest.mark.parametrize("limit", [0, 200])
def test_a_disk_that_fills_up(words: list[str], limit: int, tmp_path: Path) -> None:
    """Nothing can be taken back of what has gone to standard output, so the message says how much that is."""
    output = tmp_path / "out"
    done = run(words, f"> {output}", preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_FSIZE, (limit, limit)))
    left = f"the {limit} bytes before that are incomplete" if limit else "nothing was written"
    fails_in_one_line(done, 5, f"error: standard output: cannot be written (File too large); {left}")
    assert output.stat().st_size == limit


SWALLOWED = """
import contextlib
from oclgenomics.app.streams import StreamError, flush_output, prepare_streams
prepare_streams()
with contextlib.suppress(OSError):  # as argparse does with its help
    print("x" * 100_000)
try:
    flush_output()
except StreamError:
    raise SystemExit(5)
"""


def test_trouble_that_was_swallowed_is_told_in_the_end() -> None:
    assert run([sys.executable, "-c", SWALLOWED], ">/dev/full").returncode == 5


@pytest.mark.parametrize("redirection", ["2>&-", "2>/dev/full", ">&- 2>&- <&-"])
def test_messages_that_nobody_can_read(
    redirection: str, tmp_path: Path, capfdbinary: pytest.CaptureFixture[bytes]
) -> None:
    output = tmp_path / "x.ms"
    words = TO_OUTPUT[-1]
    done = run([*words[:-1], str(output)], redirection)
    assert (done.returncode, done.stdout, done.stderr) == (0, b"", b"")
    assert main(words[len(PROGRAM) :]) == 0
    assert capfdbinary.readouterr().out == output.read_bytes()
    done = run([*PROGRAM, "kmers", "info", "nowhere"], redirection)
    assert (done.returncode, done.stdout, done.stderr) == (3, b"", b"")


def test_nothing_is_written_into_files_that_take_a_closed_handle(tmp_path: Path) -> None:
    """With handles 1 and 2 closed, an output that got one of them would receive all messages."""
    words = [*PROGRAM, "fpga", "timing", "-o", str(tmp_path / "x")]
    assert run(words, ">&- 2>&-").returncode == 0
    whole = (tmp_path / "x").read_bytes()
    assert run(words).returncode == 0
    assert (tmp_path / "x").read_bytes() == whole


def test_closed_standard_input() -> None:
    done = run([*PROGRAM, "omega", "scan", "-", *WINDOWS], "<&-")
    fails_in_one_line(done, 3, "standard input: cannot be read: Bad file descriptor")


# Names from the data


ESCAPING = "\x1b]0;owned\x07\x9b2J\u202e"
NAMES = {"escapes": ESCAPING, "latin": "染色体é"}


def vcf(name: str) -> bytes:
    start = [f"{name}\t{100 * site + 1}\t.\tA\tC\t.\tPASS\t.\tGT" for site in range(40)]
    rows = [f"{text}\t0|1\t1|{site % 2}\t0|{site % 3 // 2}" for site, text in enumerate(start)]
    head = ["##fileformat=VCFv4.2", "#CHROM\tPOS\tID\tREF\tALT\tQUAL\tFILTER\tINFO\tFORMAT\ta\tb\tc"]
    return "\n".join([*head, *rows, ""]).encode()


@pytest.fixture
def scan() -> list[str]:
    """A scan on one device: names and streams are the same on all."""
    return [*PROGRAM, "omega", "scan", "x.vcf", *WINDOWS, "--minsnps", "2", "-d", "cpu"]


def test_reports_are_the_same_bytes_in_every_locale(scan: list[str], tmp_path: Path) -> None:
    (tmp_path / "x.vcf").write_bytes(vcf(NAMES["latin"]))
    environment = {**os.environ, "PYTHONIOENCODING": "latin-1", "LC_ALL": "C"}
    done = run(scan, cwd=tmp_path, env=environment)
    assert done.returncode == 0, done.stderr
    assert f"\n{NAMES['latin']}\t".encode() in done.stdout
    utf8 = run(scan, cwd=tmp_path, env={**os.environ, "PYTHONIOENCODING": "utf-8"})
    assert utf8.stdout == done.stdout
    assert b"\\u67d3" in done.stderr  # messages are for the terminal and its encoding


def in_terminal(words: list[str], folder: Path) -> bytes:
    """What a terminal gets of both streams."""
    ours, theirs = pty.openpty()
    process = subprocess.Popen(words, stdin=theirs, stdout=theirs, stderr=theirs, cwd=folder)
    os.close(theirs)
    shown = b""
    while True:
        try:
            shown += os.read(ours, 1 << 16)
        except OSError as error:  # Linux' way to say that the other end is closed
            if error.errno != errno.EIO:
                raise
            break
    os.close(ours)
    assert process.wait(60) == 0, shown
    return shown


def test_no_control_character_reaches_the_terminal(scan: list[str], tmp_path: Path) -> None:
    (tmp_path / "x.vcf").write_bytes(vcf(ESCAPING))
    shown = in_terminal([*scan, "-v"], tmp_path)
    assert shown.count(rb"\x1b]0;owned\x07\x9b2J\u202e") > 6
    assert not set(shown.decode()) & set(ESCAPING) - set("]0;owned2J")
    done = run(scan, cwd=tmp_path)
    assert b"\x1b" not in done.stderr
    assert f"\n{ESCAPING}\t".encode() in done.stdout  # data for programs are as they are


def test_file_names_of_any_bytes(scan: list[str], tmp_path: Path) -> None:
    name = b"\xff\x1b[2J\n.vcf"
    (Path(os.fsdecode(bytes(tmp_path))) / os.fsdecode(name)).write_bytes(vcf("1"))
    words = [os.fsdecode(name) if word == "x.vcf" else word for word in scan]
    done = subprocess.run(words, cwd=tmp_path, capture_output=True, check=False)
    assert done.returncode == 0, done.stderr
    assert b"\x1b" not in done.stderr
    assert done.stdout.decode()
    words += ["--format", "json", "-o", os.fsdecode(b"\xfe.json")]
    done = subprocess.run(words, cwd=tmp_path, capture_output=True, check=False)
    assert done.returncode == 0, done.stderr
    assert not set(b"\x1b\xff\xfe") & set(done.stderr)
    json.loads((tmp_path / os.fsdecode(b"\xfe.json")).read_bytes().decode())
    done = run([*PROGRAM, "kmers", "info", os.fsdecode(b"no\xff\x1b")])
    fails_in_one_line(done, 3, r"no\udcff\x1b: no such file")


@pytest.mark.parametrize("kind", ["png", "svg", "pdf"])
def test_figures_of_any_names(
    scan: list[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str], kind: str
) -> None:
    pytest.importorskip("matplotlib")
    monkeypatch.chdir(tmp_path)
    name = b"\xff\x1b$x^{$.vcf"
    (tmp_path / os.fsdecode(name)).write_bytes(vcf(f"{NAMES['latin']}\x1b$_"))
    (tmp_path / os.fsdecode(b"\xfe.toml")).write_text("unroll = 16\n")
    words = [os.fsdecode(name) if word == "x.vcf" else word for word in scan[len(PROGRAM) :]]
    model = ["fpga", "project", "--snps", "100", "--grid", "5", "--board", os.fsdecode(b"\xfe.toml"), "-o", "x.txt"]
    for command, told in (([*words, "-q", "-o", "x.tsv"], "\\udcf"), (model, "design")):
        with warnings.catch_warnings():
            warnings.simplefilter("error")  # which a process would print
            assert main([*command, "--plot", f"x.{kind}"]) == 0
        assert capfd.readouterr().err == ""
        if kind == "svg":
            assert told in xml.dom.minidom.parse(str(tmp_path / "x.svg")).toxml()


LONG = "n" * 256


@pytest.mark.parametrize(
    ("words", "status"),
    [
        (["omega", "scan", LONG, *WINDOWS], 3),
        (["omega", "scan", "x.vcf", *WINDOWS, "-o", LONG], 5),
        (["omega", "scan", "x.vcf", *WINDOWS, "--plot", f"{LONG}.png"], 5),
        (["omega", "scan", "x.vcf", *WINDOWS, "--samples", LONG], 3),
        (["omega", "scan", "x.vcf", *WINDOWS, "--exclude", LONG], 3),
        (["omega", "scan", "x.vcf", *WINDOWS, "--reports", "-o", f"{LONG}.tsv"], 5),
        (["omega", "peaks", LONG, "--top", "1"], 3),
        (["omega", "peaks", "x.vcf", "--threshold", LONG], 3),
        (["kmers", "count", LONG, "-k", "5", "-o", "x"], 3),
        (["kmers", "count", "x.vcf", "-k", "5", "-o", LONG], 5),
        (["kmers", "count", "x.vcf", "-k", "5", "-o", "x", "--profile", f"{LONG}.json"], 5),
        (["kmers", "count", "x.vcf", "-k", "5", "-o", "x", "--tmp-dir", LONG], 5),
        (["kmers", "dump", "x.vcf", "--format", "kmc", "-o", LONG[5:]], 5),  # 251 letters, but .kmc_pre is longer
        (["kmers", "info", LONG], 3),
        (["simulate", "omega", "--seed", "1", "-o", LONG], 5),
        (["fpga", "timing", "--board", f"{LONG}.toml"], 3),
        (["fpga", "project", "--positions", LONG], 3),
    ],
)
def test_names_that_no_file_can_have(
    words: list[str], status: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "x.vcf").write_bytes(vcf("1"))
    assert main(words) == status
    shown = capsys.readouterr()
    assert shown.out == ""
    (line,) = shown.err.splitlines()
    assert LONG[5:] in line
    assert os.listdir(tmp_path) == ["x.vcf"]


def test_names_of_full_length(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    assert main([*TIMING[len(PROGRAM) :], "-o", LONG[1:]]) == 0
    assert main([*TIMING[len(PROGRAM) :], "-o", LONG[1:]]) == 0
    assert os.listdir(tmp_path) == [LONG[1:]]


def test_printable() -> None:
    assert printable("chr1 é\t染") == "chr1 é\\x09染"
    assert printable("a\nb\r\x7f\x85\u2066") == "a\\x0ab\\x0d\\x7f\\x85\\u2066"
