"""What headers tell of reads, beside what MetaCache printed with -ground-truth and -precision."""

from __future__ import annotations

from pathlib import Path

import pytest
from helpers.classified import DATA, golden_lines

from oclgenomics.classify.api import Index, checked_inputs
from oclgenomics.classify.formats import NativeOptions, make_report
from oclgenomics.classify.options import QueryOptions
from oclgenomics.cli.main import main
from oclgenomics.errors import UsageError
from oclgenomics.runtime import Device, Engine

VIRAL = DATA / "viral"
METACACHE = ["--hitmin", "5", "--repeats", "--lowest", "sequence", "--no-summary"]
HEADERS = (
    "REF_000028.1 taxid|11320", "REF_000028 x", "xx_REF_000028.1", "REF_000028.2", "gi|5", "a taxid|10244",
    "b taxid|10242", "c taxid|10239 x", "d taxid|1", "e kraken:taxid|2560602|x", "f", "g taxid|10244x",
)  # fmt: skip


def sections() -> dict[str, list[str]]:
    """What MetaCache printed of reads with these headers, of which none was classified, by its options."""
    parts = "".join(golden_lines("viral/truth.layouts.txt")).split("=== ")[1:]
    return {words: lines for words, *lines in (part.splitlines() for part in parts)}


@pytest.fixture(scope="module")
def database(device: Device, tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("viral") / "viral.db"
    words = [str(path), str(VIRAL / "ref"), "--taxonomy", str(VIRAL / "tax"), "--winlen", "127", "--min-triplets", "0"]
    assert main(["classify", "build", *words, "-d", str(device.index), "-q"]) == 0
    return path


def query(device: Device, database: Path, *words: object) -> None:
    assert main(["classify", "query", str(database), *map(str, words), "-d", str(device.index), "-q"]) == 0


@pytest.mark.parametrize("words", sections())
@pytest.mark.parametrize("fastq", [False, True])
def test_shown_as_metacache_does(device: Device, database: Path, tmp_path: Path, words: str, fastq: bool) -> None:
    letters = "ACGTACGTGTACGTACGATGCATGCAT"
    ending = f"\r\n+\r\n{'I' * len(letters)}\n" if fastq else "\n\n"
    text = "".join(f"{'@' if fastq else '>'}{header}\r\n{letters}{ending}" for header in HEADERS)
    (tmp_path / "reads").write_bytes(text.encode())
    query(device, database, tmp_path / "reads", *METACACHE, "--ground-truth", *words.split(), "-o", tmp_path / "out")
    lines = (tmp_path / "out").read_text().splitlines()
    layout, *wanted = sections()[words]
    assert lines[0] == f"# TABLE_LAYOUT: {layout}"
    assert [line for line in lines if not line.startswith("#")][: len(wanted)] == wanted
    assert len(lines) == 2 + len(HEADERS)


def test_golden_precision(device: Device, database: Path, tmp_path: Path) -> None:
    words = ["--no-map", "--lowest", "species", "--hitmin", "5", "--repeats", "--precision", "--abundance-per", "genus"]
    query(
        device, database, VIRAL / "reads" / "se150.fq.gz", *words, "--abundances", tmp_path / "a", "-o", tmp_path / "o"
    )
    comment, text = (tmp_path / "o").read_text().split("\n", 1)
    assert comment.endswith("se150.fq.gz")
    golden = "".join(golden_lines("viral/se150.precision_summary.txt"))
    assert text == golden[golden.index("# queries:") :]
    assert (tmp_path / "a").read_text() == "".join(golden_lines("viral/se150.abundances.txt"))


def test_lines_that_are_left_out_count(device: Device, database: Path, tmp_path: Path) -> None:
    reads = [VIRAL / "reads" / "se150.fq.gz", "--query-limit", 300, "--ground-truth", "--precision"]
    for name, more in (("all", []), ("some", ["--mapped-only"])):
        query(device, database, *reads, *more, "-o", tmp_path / name)
    every, some = ((tmp_path / name).read_text().splitlines() for name in ("all", "some"))
    assert [line for line in every if not line.endswith("|\t--")] == some
    assert any(line.startswith("# precision") for line in some)


def test_pairs_go_by_their_first_mates(device: Device, database: Path, tmp_path: Path) -> None:
    for mate in (1, 2):
        (tmp_path / f"{mate}.fa").write_text(f">x/{mate} taxid|{10241 + mate}\n{'ACGGT' * 9}\n")
    words = ["--paired", tmp_path / "1.fa", tmp_path / "2.fa", "--ground-truth", "--taxids-only", "--no-summary"]
    query(device, database, *words, "-o", tmp_path / "out")
    assert (tmp_path / "out").read_text().splitlines()[-1].split("\t|\t")[1] == "genus:10242"


def test_reads_of_which_nothing_is_known(device: Device, database: Path, tmp_path: Path) -> None:
    (tmp_path / "x.fa").write_text(">x\nACGT\n>y\nACGGATTACA\n")
    query(device, database, tmp_path / "x.fa", "--precision", "-o", tmp_path / "out")
    assert (tmp_path / "out").read_text().endswith("# ground truth unknown: 100% (2)\n")


def test_texts_have_to_be_asked_for(engine: Engine, database: Path) -> None:
    with Index(database, engine=engine) as index:
        native = NativeOptions(precision=True)
        report = make_report("native", index.lineages, QueryOptions(), index.database.options.sketch, native=native)
        (part,) = index.iter_query(checked_inputs(VIRAL / "reads" / "pe125_1.fq.gz", None, interleaved=False))
        with pytest.raises(UsageError, match="has to be asked for texts"):
            report.body(part)
