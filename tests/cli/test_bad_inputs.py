"""Inputs and numbers beyond all bounds: each is one line with the right exit code, whichever reader meets it."""

from __future__ import annotations

import gzip
import hashlib
import json
import re
import zipfile

import pytest
from helpers.bgzf import bgzip, blocks
from helpers.fuzz_samples import SAMPLES

from oclgenomics.cli.main import main
from oclgenomics.errors import InputError
from oclgenomics.io.json_text import json_text
from oclgenomics.io.text_file import read_text
from oclgenomics.kmers.device.reader import KmerDatabase
from oclgenomics.omega.result import SCAN_COLUMNS
from oclgenomics.variation import ReadOptions, read_alignments
from oclgenomics.variation.readers import input_buffer

WINDOWS = ["--grid", "5", "--minwin", "1", "--maxwin", "1000"]
DIGITS = "9" * 5000  # more than Python turns into a number
DEEP = "[" * 100_000
MS = "//\nsegsites: {sites}\npositions: {positions}\n010\n111\n"
DESIGN = 'preset = "u200"\n'


def ended(capsys, *words: object) -> tuple[int, str]:
    """Exit code and the one line that it ended with."""
    code = main(list(map(str, words)))
    lines = capsys.readouterr().err.splitlines()
    assert not any("Traceback" in line for line in lines)
    errors = [line for line in lines if line.startswith("oclgenomics: error: ")]
    assert errors == lines[-1:]
    return code, errors[0]


def scan(capsys, *words: object) -> tuple[int, str]:
    return ended(capsys, "omega", "scan", *words, *WINDOWS, "-d", "cpu")


@pytest.mark.parametrize(
    ("text", "words", "message"),
    [
        (MS.format(sites=DIGITS, positions="0.1 0.2 0.3"), [], "line 2.*not followed by a number"),
        (MS.format(sites=3, positions=f"0.1 0.2 0.{DIGITS}"), [], "line 3.*not all numbers"),
        (MS.format(sites=3, positions="0.1 0.2 0.3_1"), [], "line 3.*not all numbers"),
        (MS.format(sites=3, positions="0.1 0.2 inf"), [], "line 3.*between 0 and 1"),
        *(
            (MS.format(sites=3, positions=f"1 2 {last}"), ["--input-format", "mbs"], "line 3.*whole numbers of bp")
            for last in ("inf", "nan", "1e300", 10**15)
        ),
        ("COMMAND:\tx\nSITE:\t0\t0.1_0\t0.5\t0101\n", [], "line 2.*not a site"),
    ],
)
def test_numbers_of_simulators(tmp_path, capsys, text, words, message):
    path = tmp_path / "x"
    path.write_text(text)
    code, line = scan(capsys, path, "--length", 1000, *words)
    assert code == 3
    assert matches(message, line)


def matches(pattern: str, line: str) -> bool:
    return re.search(pattern, line) is not None


def test_a_small_file_cannot_ask_for_any_memory(tmp_path, capsys):
    """One long word among many short ones would make an array of their number times its length."""
    path = tmp_path / "x.ms.gz"
    path.write_bytes(gzip.compress(MS.format(sites=100_001, positions="0." + "1" * 200_000 + " 1" * 100_000).encode()))
    assert path.stat().st_size < 4096
    assert scan(capsys, path, "--length", 1000)[0] == 3


@pytest.mark.parametrize("length", ["1e30", "1e400", DIGITS, "1e15k", "0", "-5", "1.5", "nan", "inf"])
def test_lengths(tmp_path, capsys, length):
    path = tmp_path / "x.ms"
    path.write_text(MS.format(sites=3, positions="0.1 0.2 0.3"))
    code, line = scan(capsys, path, f"--length={length}")
    assert code == 2
    assert len(line) < 300


@pytest.mark.parametrize("option", ["--border", "--seed", "--threads", "--max-memory", "--minsnps"])
def test_other_numbers(tmp_path, capsys, option):
    path = tmp_path / "x.ms"
    path.write_text(MS.format(sites=3, positions="0.1 0.2 0.3"))
    for value in (DIGITS, "1" + 400 * "0"):
        code, line = scan(capsys, path, "--length", 1000, option, value)
        assert code == 2
        assert len(line) < 300


def test_numbers_beyond_what_kernels_and_memory_take(tmp_path, capsys):
    path = tmp_path / "x.ms"
    path.write_text(MS.format(sites=3, positions="0.1 0.2 0.3"))
    assert scan(capsys, path, "--length", 1000, "--border", 2**32)[0] == 2
    assert ended(capsys, "fpga", "project", "--samples", 2**40, "--no-measure")[0] == 2


@pytest.mark.parametrize("line", [f"1\t5\t{DIGITS}", f"1\t{DIGITS}\t5", f"1\t5\t{10**30}"])
def test_regions(tmp_path, capsys, line):
    alignment, bed = tmp_path / "x.ms", tmp_path / "x.bed"
    alignment.write_text(MS.format(sites=3, positions="0.1 0.2 0.3"))
    bed.write_text(f"1\t5\t6\n{line}\n")
    code, said = scan(capsys, alignment, "--length", 1000, "--exclude", bed)
    assert code == 3
    assert matches("line 2.*beyond every chromosome", said)
    assert len(said) < 300


ALIGNMENT = {
    "chromosome": "1", "replicate": 1, "positions": [1, 2], "omega": [3, None], "left": [1, 0], "right": [2, 0],
}  # fmt: skip


def report(**changes: object) -> str:
    return json.dumps({"alignments": [ALIGNMENT | changes]})


@pytest.mark.parametrize(
    "text",
    [
        report(omega=[float("inf"), 1]), report(omega=[float("nan"), 1]), report(replicate=float("inf")),
        report(omega=[1, 2]).replace("[1, 2]", "[1, 1e999]"), report(left=[10**30, 1]), report(left=[1.5, 1]),
        report(positions=[[1], [2]]), report(positions=["1", "2"]), report(replicate=[1]), report(omega=[1]),
        report(positions=[1e300, 1]), report().replace("3", DIGITS), '{"alignments": ' + DEEP, '{"a":' * 100_000,
    ],
    ids=str.__len__,
)  # fmt: skip
def test_json_reports(tmp_path, capsys, text):
    path = tmp_path / "x.json"
    path.write_text(text)
    assert ended(capsys, "omega", "peaks", path, "--threshold", 1)[0] == 3
    assert ended(capsys, "omega", "ld", "x.vcf", "--scan", path)[0] == 3
    assert ended(capsys, "omega", "peaks", path, "--threshold", path)[0] == 3


@pytest.mark.parametrize("cell", ["inf", "nan", "1e999", DIGITS, "1_0", " 1", "0x1", "\u0661"])
@pytest.mark.parametrize("column", ["replicate", "position", "omega", "left"])
def test_tsv_reports(tmp_path, capsys, column, cell):
    rows = [["1", "1", "5.00", "2.5", "1", "9", "4"] for _ in range(3)]
    rows[1][SCAN_COLUMNS.index(column)] = cell
    path = tmp_path / "x.tsv"
    path.write_text("\n".join("\t".join(row) for row in [list(SCAN_COLUMNS), *rows]) + "\n", encoding="utf-8")
    code, line = ended(capsys, "omega", "peaks", path, "--threshold", 1)
    assert code == 3
    assert matches("line 3.*is no number", line)
    assert len(line) < 300


def with_checksum(record: dict[str, object]) -> str:
    """A file of thresholds that nobody changed after it was written."""
    return json.dumps(record | {"checksum": hashlib.sha256(json_text(record).encode()).hexdigest()})


@pytest.mark.parametrize(
    "changes",
    [
        {"thresholds": []}, {"length": float("inf")}, {"length": "x"}, {"scan": {"grid": 1}}, {"scan": {"grid": "x"}},
        {"scan": []}, {"maxima": {"omega": [], "position": []}}, {"maxima": {"omega": [1], "position": [[1]]}},
        {"thresholds": [{"fpr": 0.05, "omega": float("inf"), "rank": 1}]},
        {"thresholds": [{"fpr": "0.05", "omega": 1, "rank": 1}]}, {"maxima": []}, {"kind": 3},
    ],
    ids=str,
)  # fmt: skip
def test_threshold_files(tmp_path, capsys, changes):
    whole = json.loads(SAMPLES["thresholds"])
    del whole["checksum"]
    (tmp_path / "r").write_bytes(SAMPLES["json"])
    (tmp_path / "t").write_text(with_checksum(whole))
    assert main(["omega", "peaks", str(tmp_path / "r"), "--threshold", str(tmp_path / "t")]) == 0
    (tmp_path / "t").write_text(with_checksum(whole | changes))
    capsys.readouterr()
    assert ended(capsys, "omega", "peaks", tmp_path / "r", "--threshold", tmp_path / "t")[0] == 3


@pytest.mark.parametrize(
    "words",
    [
        ["omega", "peaks", "/dev/zero", "--top", 1],
        ["omega", "ld", "x.vcf", "--scan", "/dev/zero"],
        ["omega", "scan", "x.ms", "--exclude", "/dev/zero", *WINDOWS],
        ["fpga", "project", "--positions", "/dev/zero", "--no-measure"],
    ],
)
def test_an_input_without_end(capsys, words):
    assert ended(capsys, *words)[0] == 3


def test_packed_zeros_are_no_report(tmp_path, capsys):
    path = tmp_path / "x.gz"
    path.write_bytes(gzip.compress(bytes(1 << 20)) * 2000)  # 2 GB of them
    assert ended(capsys, "omega", "peaks", path, "--top", 1)[0] == 3


def test_texts_are_bounded(tmp_path):
    path = tmp_path / "x"
    path.write_bytes(gzip.compress(b"a" * 1000))
    assert read_text(path, 1000)[0] == "a" * 1000
    with pytest.raises(InputError, match="more than 999 bytes"):
        read_text(path, 999)


@pytest.mark.parametrize("text", ["#" + "x" * 300, "##fileformat=VCF\n##" + "x" * 300, ">a\n" + "A" * 300])
@pytest.mark.parametrize("block", [16, 1 << 20])
def test_lines_are_bounded(tmp_path, monkeypatch, text, block):
    path = tmp_path / "x"
    path.write_text(text)
    monkeypatch.setattr(input_buffer, "MAX_LINE_BYTES", 200)
    kind = "vcf" if text[0] == "#" else "fasta"
    with pytest.raises(InputError, match="more than 200 bytes"):
        list(read_alignments(path, ReadOptions(format=kind), block_bytes=block))
    monkeypatch.setattr(input_buffer, "MAX_LINE_BYTES", 400)
    with pytest.raises(InputError) if kind == "vcf" else pytest.MonkeyPatch.context():
        list(read_alignments(path, ReadOptions(format=kind), block_bytes=block))


@pytest.mark.parametrize(
    "text",
    [
        f"unroll = {DIGITS}", f"unroll = 0x{DIGITS}", f"clock_mhz = {10**400}", "clock_mhz = inf", "clock_mhz = nan",
        f"unroll = {DEEP}", "unroll = 10000000000", f"board = 0x{DIGITS}", f"memory = [0x{DIGITS}]",
    ],
    ids=str.__len__,
)  # fmt: skip
def test_designs(tmp_path, capsys, text):
    path = tmp_path / "x.toml"
    path.write_text(DESIGN + text + "\n")
    code, line = ended(capsys, "fpga", "timing", "--board", path)
    assert code == 3
    assert len(line) < 300
    assert ended(capsys, "fpga", "timing", "--set", text.replace(" ", ""))[0] == 2


@pytest.mark.parametrize("words", [["--left", 10**30], ["--right", 2**31]])
def test_trip_counts(capsys, words):
    assert ended(capsys, "fpga", "timing", *words)[0] == 2


def test_positions(tmp_path, capsys):
    path = tmp_path / "x"
    path.write_text(f"5\n{DIGITS}\n")
    code, line = ended(capsys, "fpga", "project", "--positions", path, "--no-measure")
    assert (code, len(line) < 300) == (3, True)


@pytest.mark.parametrize("at", range(46))
def test_a_damaged_zip_file(tmp_path, capsys, at):
    pytest.importorskip("zarr")
    path = tmp_path / "x.vcz.zip"
    with zipfile.ZipFile(path, "w") as packed:
        packed.writestr("zarr.json", "{}")
    data = bytearray(path.read_bytes())
    start = data.index(b"PK\x01\x02")  # the central directory, which holds versions, flags, sizes, names and places
    data[start + at] ^= 0xFF
    path.write_bytes(data)
    assert scan(capsys, path)[0] == 3


def test_an_allele_that_is_no_text(tmp_path, capsys):
    msprime = pytest.importorskip("msprime")
    trees = msprime.sim_mutations(msprime.sim_ancestry(3, random_seed=1), rate=5, random_seed=1)
    tables = trees.dump_tables()
    states = tables.mutations.derived_state.copy()
    states[0] = -1
    tables.mutations.derived_state = states
    path = tmp_path / "x.trees"
    tables.tree_sequence().dump(path)
    code, line = scan(capsys, path)
    assert (code, "no UTF-8" in line) == (3, True)


@pytest.mark.parametrize(
    "words", [["count", "{x}", "-k", 5, "-d", "cpu", "-o", "{out}"], ["query", "{db}", "--file", "{x}"]]
)
def test_sequences_cut_between_two_blocks(tmp_path, capsys, words):
    text = b">a\n" + b"GATTACAC" * 5000 + b"\n"
    places = {"x": tmp_path / "x.fa.gz", "out": tmp_path / "out", "db": tmp_path / "db"}
    places["x"].write_bytes(bgzip(text))
    assert main(["kmers", "count", str(places["x"]), "-k", "5", "-d", "cpu", "-o", str(places["db"])]) == 0
    places["x"].write_bytes(b"".join(blocks(text, 9000)[:3]))
    capsys.readouterr()
    code, line = ended(capsys, "kmers", *(str(word).format(**places) for word in words))
    assert (code, "without its end marker" in line) == (3, True)
    assert not places["out"].exists()


def test_fastq_without_the_end_marker(tmp_path, capsys):
    """As bcl2fastq writes it: read, with a warning; one that is cut within a record is refused."""
    text = b"".join(b"@read%d\n%s\n+\n%s\n" % (n, b"GATTACAC" * 10, b"I" * 80) for n in range(200))
    whole, out = tmp_path / "x.fq.gz", tmp_path / "out"
    whole.write_bytes(b"".join(blocks(text, 9000)))
    assert main(["kmers", "count", str(whole), "-k", "5", "-d", "cpu", "-o", str(out)]) == 0
    assert "x.fq.gz: the bgzip data ends without its end marker" in capsys.readouterr().err
    with KmerDatabase.open(out) as database:
        assert database.total == 200 * 76
    cut = tmp_path / "cut.fq.gz"
    cut.write_bytes(b"".join(blocks(text, 9000)[:2]))
    code, line = ended(capsys, "kmers", "count", str(cut), "-k", "5", "-d", "cpu", "-o", str(tmp_path / "none"))
    assert (code, "cut.fq.gz" in line) == (3, True)
    assert not (tmp_path / "none").exists()
