"""`classify query` and `classify run`: files of reads, outputs beside each other, and what is refused."""

from __future__ import annotations

import gzip
import io
import sys
from pathlib import Path

import pytest
from helpers.classified import DATA

from oclgenomics import classify
from oclgenomics.classify import QueryOptions
from oclgenomics.classify.formats import NativeOptions, make_report
from oclgenomics.cli.main import main
from oclgenomics.runtime import Device

EDGE = DATA / "edge"
READS = EDGE / "edge_reads.fa"
SUMMARIES = ("kreport", "abundances", "krona", "cami", "cami-profile", "bracken", "hits-per-ref")


@pytest.fixture(scope="module")
def database(device: Device, tmp_path_factory: pytest.TempPathFactory) -> str:
    path = tmp_path_factory.mktemp("database") / "edge"
    words = [str(path), str(EDGE / "edge_ref.fna"), "--taxonomy", str(EDGE), "-q", "-d", str(device.index)]
    assert main(["classify", "build", *words]) == 0
    return str(path)


def query(device: Device, *words: object) -> int:
    return main(["classify", "query", *map(str, words), "-d", str(device.index), "-q"])


def fastq(path: Path, names: list[str], letters: str = "GGATCACAGTCTACACTGCTCACTCCAACCCCGGCCCCTGAGTC") -> Path:
    path.write_text("".join(f"@{name} x\n{letters}\n+\n{'I' * len(letters)}\n" for name in names))
    return path


def test_all_outputs_at_once(device: Device, database: str, tmp_path: Path) -> None:
    words = [word for name in SUMMARIES for word in (f"--{name}", f"{tmp_path}/{name}")]
    words += ["--abundance-per", "genus", "--classified-out", f"{tmp_path}/c.fa", "--unclassified-out", f"{tmp_path}/u"]
    assert query(device, database, READS, "-o", tmp_path / "out", *words) == 0
    assert len((tmp_path / "out").read_text().splitlines()) > 15
    for name in SUMMARIES:
        assert (tmp_path / name).stat().st_size > 0, name
    both = (tmp_path / "c.fa").read_text() + (tmp_path / "u").read_text()
    assert sorted(both.split(">")) == sorted(READS.read_text().split(">"))


@pytest.mark.parametrize("format", ["native", "kraken", "tsv", "json"])
def test_formats(
    device: Device, database: str, format: str, tmp_path: Path, capfdbinary: pytest.CaptureFixture[bytes]
) -> None:
    assert query(device, database, READS, "--format", format) == 0
    shown = capfdbinary.readouterr().out
    assert query(device, database, READS, "--format", format, "-o", tmp_path / "out") == 0
    assert (tmp_path / "out").read_bytes() == shown
    assert b"w127" in shown


def test_reads_may_stand_before_options_and_behind_them(device: Device, database: str, tmp_path: Path) -> None:
    words = ["--format", "tsv", "--hitmin", "2"]
    for number, given in enumerate(([database, READS, *words], [database, *words, READS], [*words, database, READS])):
        assert query(device, *given, "-o", tmp_path / f"{number}") == 0
    assert (tmp_path / "0").read_bytes() == (tmp_path / "1").read_bytes() == (tmp_path / "2").read_bytes()


def test_databases_without_taxonomy_call_sequences(
    device: Device, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """By default, with a message; a query for species gets a warning that there are none."""
    bare, given = str(tmp_path / "bare"), ["-d", str(device.index)]
    assert main(["classify", "build", bare, str(EDGE / "edge_ref.fna"), "--min-triplets", "0", *given]) == 0
    capsys.readouterr()
    given.append("--repeats")
    shown = {}
    for words in ((), ("--lowest", "sequence"), ("--lowest", "species"), ("--hitmin", "2")):
        assert main(["classify", "query", bare, str(READS), *words, *given]) == 0
        shown[words], err = capsys.readouterr()
        assert ("--lowest sequence names targets" in err) == ("species" in words)
        assert ("None of the input sequences" in shown[words]) == ("species" in words)
        assert ("so reads are assigned to its sequences" in err) == (not words)
    assert without_comments(shown[()]) == without_comments(shown["--lowest", "sequence"])
    found = classify.query(READS, bare, QueryOptions(repeats=True), engine=device)
    assert found.options.lowest == "sequence"
    assert "sequence" in {one["rank"] for one in found.records()}
    with classify.Index(bare, engine=device) as index:
        for format in ("kraken", "native"):
            texts = []
            for options in (QueryOptions(), QueryOptions(lowest="sequence")):
                report = make_report(
                    format, index.lineages, options, index.database.options.sketch, native=NativeOptions(tophits=True)
                )
                texts.append(b"".join([report.body(part) for part in found.parts]))
            assert texts[0] == texts[1]
    words = ["classify", "run", str(READS), "--targets", str(EDGE / "edge_ref.fna"), "--min-triplets", "0", *given]
    assert main(words) == 0
    assert without_comments(capsys.readouterr().out) == without_comments(shown[()])
    for number in ("1", "2"):
        piece = str(tmp_path / number)
        assert main(["classify", "query", bare, str(READS), "--shard", f"{number}/2", "-o", piece, *given]) == 0
    capsys.readouterr()
    assert main(["classify", "combine", str(tmp_path / "1"), str(tmp_path / "2")]) == 0
    assert without_comments(capsys.readouterr().out) == without_comments(shown[()])


def without_comments(text: str) -> list[str]:
    return [line for line in text.splitlines() if not line.startswith("#")]


@pytest.mark.parametrize("command", ["query world.db q.fq", "run q.fq --targets x"])
def test_single_reads_do_not(command: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["classify", *command.split(), "--unclassified-out", "u#.fq"]) == 2
    assert "--unclassified-out u#.fq: # is for two files of mates; give --paired" in capsys.readouterr().err


def test_reads_of_pairs_go_to_two_files(device: Device, database: str, tmp_path: Path) -> None:
    one, two = (fastq(tmp_path / f"{mate}.fq", [f"r{i}/{mate}" for i in range(9)]) for mate in (1, 2))
    outputs = ["--classified-out", tmp_path / "c#.fq.gz", "--unclassified-out", tmp_path / "u#.fq", "--hitmin", 1]
    assert query(device, database, "--paired", one, two, *outputs, "-o", tmp_path / "out") == 0
    for mate, source in ((1, one), (2, two)):
        assert gzip.decompress((tmp_path / f"c_{mate}.fq.gz").read_bytes()) == source.read_bytes()
        assert (tmp_path / f"u_{mate}.fq").read_bytes() == b""
    assert query(device, database, "--paired", one, two, "--classified-out", tmp_path / "c.fq", "--hitmin", 1,
                 "-o", tmp_path / "out2") == 0  # fmt: skip
    assert query(device, database, tmp_path / "c.fq", "--interleaved", "--hitmin", 1, "-o", tmp_path / "out3") == 0
    first, again = ((tmp_path / name).read_text().splitlines() for name in ("out2", "out3"))
    assert [line for line in first if line[0] != "#"] == [line for line in again if line[0] != "#"]
    assert query(device, database, two, one, "--pairfiles", "--hitmin", 1, "-o", tmp_path / "out4") == 0
    assert "r8/2" in (tmp_path / "out4").read_text()


def test_more_files_of_mates_are_sorted(device: Device, database: str, tmp_path: Path) -> None:
    names = ["b1.fq", "a2.fq", "b2.fq", "a1.fq"]
    files = [fastq(tmp_path / name, [name[0] + "0"]) for name in names]
    assert query(device, database, *files, "--pairfiles", "-o", tmp_path / "out") == 0
    sources = [line for line in (tmp_path / "out").read_text().splitlines() if " + " in line]
    assert sources == [f"# {tmp_path}/{x}1.fq + {tmp_path}/{x}2.fq" for x in "ab"]


def test_standard_input(device: Device, database: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(gzip.compress(READS.read_bytes()))))
    assert query(device, database, "-", "-o", tmp_path / "out") == 0
    assert query(device, database, READS, "-o", tmp_path / "out2") == 0
    one, two = ((tmp_path / name).read_text().splitlines() for name in ("out", "out2"))
    assert one[2:] == two[2:]


def test_run(device: Device, database: str, tmp_path: Path) -> None:
    words = [str(READS), "--targets", str(EDGE / "edge_ref.fna"), "--taxonomy", str(EDGE), "-d", str(device.index)]
    assert main(["classify", "run", *words, "-o", f"{tmp_path}/run", "-q"]) == 0
    assert query(device, database, READS, "-o", tmp_path / "query") == 0
    assert (tmp_path / "run").read_bytes() == (tmp_path / "query").read_bytes()


@pytest.mark.parametrize(
    ("words", "status", "message"),
    [
        ([], 2, "there are no reads to classify: name a file, or files of mates with --paired"),
        (["{r}", "--pairfiles"], 2, "--pairfiles: an odd number of files, 1"),
        (["{r}", "--pairfiles", "--interleaved"], 2, "--pairfiles and --interleaved contradict each other"),
        (["--pairfiles", "{r}", "{r}"], 2, "are one file; name the second mates' file behind the first's"),
        (["{r}", "--paired", "{r}", "{r}"], 2, "are one file"),
        (["{r}", "--min-readlen", "200", "--max-readlen", "100"], 2, "--min-readlen 200: is above the greatest length"),
        (["{r}", "--abundances", "{missing}", "--abundance-per", "x"], 2, "--abundance-per x: choose one of sequence"),
        (["-", "-"], 2, "standard input (-) can be read once"),
        (["{r}", "--format", "kraken", "--tophits"], 2, "--tophits is for --format native, not for kraken"),
        (["{r}", "--format", "xml"], 2, "--format xml: choose one of native, kraken, tsv, json"),
        (["{r}", "--json", "--format", "tsv"], 2, "--json and --format tsv contradict each other"),
        (["{r}", "--abundance-per", "genus"], 2, "--abundance-per needs --abundances FILE"),
        (["{r}", "--hitdiff", "x"], 2, "'x' is no share: write 0.8, or 80 for percent"),
        (["{r}", "--lowest", "tribu"], 2, "--lowest tribu: choose one of sequence, form"),
        (["{r}", "--maxcand", "0"], 2, "--maxcand 0: is 1 to 64"),
        (["{r}", "--threads", "0"], 2, "--threads 0: give 1 or more"),
        (["{r}", "--query-limit", "0"], 2, "--query-limit 0"),
        (["{r}", "--plot", "x.txt"], 2, ".png"),
        (["{r}", "--kreport", "/no/such/folder/x"], 5, "there is no folder /no/such"),
        (["{r}", "{missing}"], 3, "missing"),
        (["{r}", "--interleaved"], 3, "record 1: the mates of a pair have different names, 'full' and 'w127'; give "
         "--any-mates if they are"),
        (["{r}", "--interleaved", "--any-mates"], 3, "record 15: has an odd number of records"),
    ],
)  # fmt: skip
def test_what_is_refused(
    device: Device,
    database: str,
    tmp_path: Path,
    words: list[str],
    status: int,
    message: str,
    capsys: pytest.CaptureFixture[str],
) -> None:
    """In one line, and without any output."""
    places = {"r": READS, "missing": tmp_path / "missing"}
    line = [database, *(word.format(**places) for word in words), "-o", tmp_path / "out", "--krona", tmp_path / "krona"]
    assert query(device, *line) == status
    told = capsys.readouterr().err
    assert message in told
    assert told.count("\n") == 1
    assert not list(tmp_path.iterdir())


def test_an_input_that_ends_within_a_record_leaves_nothing(device: Device, database: str, tmp_path: Path) -> None:
    whole = fastq(tmp_path / "x.fq", [f"r{i}" for i in range(50)]).read_bytes()
    (tmp_path / "x.fq").write_bytes(whole[:-30])
    assert query(device, database, tmp_path / "x.fq", "-o", tmp_path / "out", "--kreport", tmp_path / "k") == 3
    assert [path.name for path in tmp_path.iterdir()] == ["x.fq"]
