"""Sample sheets of real commands: outputs are those of runs of their own, and what samples share is opened once."""

from __future__ import annotations

import gzip
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from helpers.classify_databases import EDGE
from helpers.shared_builds import built_folder

from oclgenomics import runtime
from oclgenomics.classify import index as classify_index
from oclgenomics.cli.main import main
from oclgenomics.kmers.commands import count as kmers_count
from oclgenomics.kmers.device import reader as kmers_reader
from oclgenomics.runtime import Device
from oclgenomics.sdtw.device import reads as sdtw_reads
from oclgenomics.signatures import jobs as signatures_jobs

pytestmark = pytest.mark.one_cpu
LANES = "sample,fastq_1,fastq_2\nP,p1_1.fq,p1_2.fq.gz\nS,s.fq,\nP,p2_1.fq,p2_2.fq\nT,t.fa,\n"
READS = {"P": ["p1_1.fq", "p1_2.fq.gz", "p2_1.fq", "p2_2.fq"], "S": ["s.fq"], "T": ["t.fa"]}
SIGNALS = {"P": ["one.npz", "two.npz"], "S": ["three.npz"]}
COUNT = ["kmers", "count", "-k", "9"]
QUERY = ["classify", "query", "taxa.db"]
SCAN = ["signatures", "scan"]
CLASSIFY = ["sdtw", "classify", "--reference", "target.sdtw", "--stages", "500:1500,1000:3000", "--trim", "none"]


def fastq(text: str, names: str) -> bytes:
    return "".join(
        f"@{names}{n}\n{text[at : at + 80]}\n+\n{'I' * 80}\n" for n, at in enumerate(range(0, 2000, 90))
    ).encode()


@pytest.fixture(scope="module")
def inputs(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Reads, signals, a panel, a reference, databases and sheets."""
    return built_folder(tmp_path_factory, "sheets", _write_inputs)


def _write_inputs(place: Path) -> None:
    references = (EDGE / "edge_ref.fna").read_text()
    text = "".join(line for line in references.split("\n") if not line.startswith(">"))
    rng = np.random.default_rng(1)
    text = (text + "".join(rng.choice([*"ACGT"], 3000)))[:3000]
    for number, name in enumerate(("p1_1.fq", "p1_2.fq.gz", "p2_1.fq", "p2_2.fq", "s.fq")):
        data = fastq(text[number * 100 :], "r" if name.startswith("p") else "s")
        (place / name).write_bytes(gzip.compress(data) if name.endswith("gz") else data)
    (place / "t.fa").write_text(f">t\n{text[:600]}\n>u\n{text[300:900]}\n")
    (place / "panel.fa").write_text("".join(f">p{at}\n{text[at : at + 20]}\n" for at in range(0, 900, 100)))
    (place / "target.fa").write_text(f">target\n{text[:2000]}\n")
    (place / "sheet.csv").write_text(LANES)
    (place / "signals.tsv").write_text("sample\tinput\nP\tone.npz\nS\tthree.npz\nP\ttwo.npz\n")
    for number, name in enumerate(("one", "two", "three")):
        words = ["--target", place / "target.fa", "--reads", 6, "--samples", 1500]
        run("simulate", "signals", "--seed", number, *words, "-o", place / f"{name}.npz")
    run("sdtw", "index", place / "target.fa", "--model", "r9.4.1", "-o", place / "target.sdtw")
    run("classify", "build", place / "taxa.db", EDGE / "edge_ref.fna", "--taxonomy", EDGE)
    run("kmers", "count", "-k", 9, place / "t.fa", "-o", place / "only.db")


def run(*words: object) -> None:
    assert main([*map(str, words), "-q"]) == 0


@pytest.fixture
def folder(inputs: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A working folder with all inputs."""
    monkeypatch.chdir(tmp_path)
    for path in inputs.iterdir():
        if path.is_file():
            (tmp_path / path.name).write_bytes(path.read_bytes())
    return tmp_path


def plain(path: Path) -> bytes:
    """The bytes of an output without what made it; of packed text unpacked."""
    data = path.read_bytes()
    data = gzip.decompress(data) if data[:2] == b"\x1f\x8b" else data
    if path.suffix == ".db":
        return data
    return b"".join(line for line in data.splitlines(keepends=True) if not line.startswith((b"# command", b"# param")))


CASES = [
    pytest.param(
        COUNT, ["sheet.csv"], READS, ".db", {"--multiqc": "_mqc.json"}, id="count"
    ),
    pytest.param(
        [*COUNT, "--only", "only.db", "--min-count", "2"], ["sheet.csv"], READS, ".db", {}, id="count-only"
    ),
    pytest.param(
        QUERY, ["sheet.csv"], READS, ".reads.txt",
        {
            "--kreport": ".kreport", "--multiqc": "_mqc.json", "--classified-out": ".yes.fq.gz",
            "--unclassified-out": "_no.fq", "--cami-profile": ".profile", "--hits-per-ref": ".hits",
        },
        id="query",
    ),
    pytest.param(
        [*SCAN, "panel.fa", "--max-mismatch", "2", "--strand", "both"], ["sheet.csv"], READS, ".matches.tsv",
        {"--summary": ".summary.tsv", "--multiqc": "_mqc.json", "--sample-report": ".certainty"},
        id="scan",
    ),
    pytest.param(
        [*SCAN, "panel.fa", "--max-edits", "1", "--report", "all", "--json"], ["sheet.csv"], READS,
        ".matches.jsonl", {},
        id="scan-edits",
    ),
    pytest.param(
        CLASSIFY, ["signals.tsv"], SIGNALS, ".decisions.tsv", {"--summary": ".stages", "--multiqc": "_mqc.json"},
        id="sdtw",
    ),
]  # fmt: skip


@pytest.mark.parametrize(("words", "sheet", "samples", "ending", "others"), CASES)
def test_each_sample_has_the_outputs_of_a_run_of_its_own(
    device: Device, folder: Path, words: list[str], sheet: list[str], samples: dict[str, list[str]], ending: str,
    others: dict[str, str], capsys: pytest.CaptureFixture[str],
) -> None:  # fmt: skip
    on = ["-d", str(device.index)]
    options = [word for pair in others.items() for word in pair]
    run(*words, "--samplesheet", *sheet, "-o", "out", *options, *on)
    told = capsys.readouterr()
    assert not told.err
    assert "made" in told.out
    (folder / "alone").mkdir()
    for name, files in samples.items():
        own = [f"{option}=alone/{name}{end}" for option, end in others.items()]
        run(*_alone(words, files), "-o", f"alone/{name}{ending}", *own, "--sample-name", name, *on)
    made = {path.name for path in (folder / "out").iterdir() if not path.name.startswith(".")}
    assert made == {path.name for path in (folder / "alone").iterdir()}
    assert len(made) == len(samples) * (1 + len(others))
    for name in sorted(made):
        assert plain(folder / "out" / name) == plain(folder / "alone" / name), name


def _alone(words: list[str], files: list[str]) -> list[str]:
    """The command for the files of one sample."""
    if words[0] == "classify" and len(files) > 1:
        return [*words, "--paired", *files[:2], "--paired", *files[2:]]
    place = 2 if words[0] == "signatures" else len(words)
    return [*words[:place], *files, *words[place:]]


@contextmanager
def counted(patch: pytest.MonkeyPatch, *places: tuple[Any, str]) -> Iterator[list[str]]:
    """Note each call of some functions and classes."""
    calls: list[str] = []
    for place, name in places:
        before = getattr(place, name)

        def called(*args: Any, _before: Any = before, _name: str = name, **kwargs: Any) -> Any:
            calls.append(_name)
            return _before(*args, **kwargs)

        patch.setattr(place, name, called)
    yield calls


@pytest.mark.parametrize(
    ("words", "sheet", "places"),
    [
        (QUERY, "sheet.csv", [(classify_index, "open_database"), (classify_index, "SoughtFinder")]),
        ([*SCAN, "panel.fa"], "sheet.csv", [(signatures_jobs, "read_panel"), (signatures_jobs, "Finder")]),
        (CLASSIFY, "signals.tsv", [(sdtw_reads, "References")]),
        ([*COUNT, "--only", "only.db"], "sheet.csv", [(kmers_reader.KmerDatabase, "open")]),
        (COUNT, "sheet.csv", []),
    ],
    ids=["query", "scan", "sdtw", "count-only", "count"],
)
def test_what_samples_share_is_opened_once(
    device: Device, folder: Path, monkeypatch: pytest.MonkeyPatch, words: list[str], sheet: str,
    places: list[tuple[Any, str]],
) -> None:  # fmt: skip
    with counted(monkeypatch, (runtime, "Engine"), *places) as calls:
        run(*words, "--samplesheet", sheet, "-o", "out", "-d", device.index)
        assert sorted(calls) == sorted(["Engine", *(name for _, name in places)])
        calls.clear()
        run(*words, "--samplesheet", sheet, "-o", "out", "-d", device.index)
        assert "Engine" not in calls


@pytest.mark.parametrize(
    ("words", "end", "files"),
    [
        (COUNT, "db", ("s.fq", "p1_2.fq.gz", "t.fa")),
        (QUERY, "reads.txt", ("s.fq", "p1_2.fq.gz", "t.fa")),
        ([*SCAN, "panel.fa"], "matches.tsv", ("s.fq", "p1_2.fq.gz", "t.fa")),
        ([*SCAN, "panel.fa", "--max-edits", "1"], "matches.tsv", ("s.fq", "p1_2.fq.gz", "t.fa")),
        (CLASSIFY, "decisions.tsv", ("one.npz", "two.npz", "three.npz")),
    ],
    ids=["count", "query", "scan", "scan-edits", "sdtw"],
)
def test_a_damaged_sample_is_reported_and_made_when_it_is_whole(
    device: Device, folder: Path, words: list[str], end: str, files: tuple[str, ...], capsys: pytest.CaptureFixture[str]
) -> None:
    rows = [f"{name},{file}\n" for name, file in zip("ABC", files, strict=True)]
    Path("sheet.csv").write_text("".join(["sample,input\n", *rows]))
    whole = Path(files[1]).read_bytes()
    Path(files[1]).write_bytes(whole[:-20])
    line = [*words, "--samplesheet", "sheet.csv", "-o", "out", "-d", str(device.index), "-q"]
    capsys.readouterr()
    assert main(line) == 3
    told = capsys.readouterr()
    assert told.err.startswith(f"oclgenomics: error: sample B: {files[1]}")
    assert told.err.count("\n") == 1
    assert [row.split("\t")[1] for row in told.out.splitlines()[1:]] == ["made", "failed", "made"]
    assert {path.name for path in Path("out").iterdir() if path.name[0] != "."} == {f"A.{end}", f"C.{end}"}
    Path(files[1]).write_bytes(whole)
    assert main(line) == 0
    assert [row.split("\t")[1] for row in capsys.readouterr().out.splitlines()[1:]] == ["kept", "made", "kept"]
    for name, file in zip("BC", files[1:], strict=True):  # the one behind the damaged one, too
        run(*_alone(words, [file]), "-o", f"alone.{end}", "--sample-name", name, "-d", device.index)
        assert plain(Path(f"out/{name}.{end}")) == plain(Path(f"alone.{end}"))


def test_an_interrupt_leaves_whole_samples_only(
    device: Device, folder: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    def stop(args: Any, *_: object) -> None:
        raise KeyboardInterrupt

    write = kmers_count.write_content
    monkeypatch.setattr(
        kmers_count, "write_content", lambda args, *rest: (stop if args.sample_name == "S" else write)(args, *rest)
    )
    line = [*COUNT, "--samplesheet", "sheet.csv", "-o", "out", "--multiqc", "_mqc.json", "-d", str(device.index), "-q"]
    assert main(line) == 130
    assert {path.name for path in Path("out").iterdir()} == {".P.db.made", "P.db", "P_mqc.json"}
    assert "saved: out/P.db, out/P_mqc.json\n" in capsys.readouterr().err


def test_a_sheet_is_refused_with_what_it_cannot_go_with(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    for words, trouble in (
        ([*COUNT, "s.fq"], "--samplesheet: the sheet names the files; leave INPUT out"),
        ([*SCAN, "s.fq", "panel.fa"], "--samplesheet: the sheet names the files; leave SAMPLES out"),
        (SCAN, "SIGNATURES is missing: name a file of signatures last"),
        ([*QUERY, "--paired", "p1_1.fq", "p2_1.fq"], "--paired: the sheet names the files of mates"),
        ([*QUERY, "--pairfiles"], "--pairfiles: the sheet says which files are of mates"),
        ([*QUERY, "--workers", "auto"], "--workers and --samplesheet contradict each other"),
        ([*COUNT, "--shard", "1/2"], "--shard and --samplesheet contradict each other"),
        ([*QUERY, "--plot", ".txt"], "--plot out/P.txt: the name has to end in .png, .svg or .pdf"),
        ([*SCAN, "panel.fa", "--format", "none"], "--format none: choose one of"),
        ([*COUNT, "--multiqc", ".json"], "has to end in _mqc.json"),
    ):
        assert main([*words, "--samplesheet", "sheet.csv", "-o", "out"]) == 2
        assert trouble in capsys.readouterr().err
        assert not Path("out").exists()
