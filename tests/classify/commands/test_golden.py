"""The command line against what MetaCache printed, byte by byte but for the names of files and the times it took."""

from __future__ import annotations

from pathlib import Path

import pytest
from helpers.classified import DATA, golden_lines

from oclgenomics.cli.main import main
from oclgenomics.runtime import Device

EDGE = {
    "edge.query.default": ["--tophits", "--locations", "--queryids"],
    "edge.query.species": ["--tophits", "--allhits", "--locations", "--queryids", "--lowest", "species"],
    "edge.query.hm1.mc6.hd50": [
        "--hitmin", "1", "--maxcand", "6", "--hitdiff", "50", "--tophits", "--taxids", "--lineage",
    ],
    "edge.k12s8w64st40.query": ["--tophits", "--lowest", "species", "--hitmin", "2"],
}  # fmt: skip
SHORT = ["--kmerlen", "12", "--sketchlen", "8", "--winlen", "64", "--winstride", "40", "--min-triplets", "0"]
SINGLE, MATES = ["se150.fq.gz"], ["pe125_2.fq.gz", "pe125_1.fq.gz"]
VIRAL = {
    "se150.default": SINGLE,
    "se150.species.tophits": [*SINGLE, "--lowest", "species", "--tophits", "--queryids", "--taxids"],
    "se150.locations2000": [
        *SINGLE, "--lowest", "sequence", "--tophits", "--locations", "--allhits", "--query-limit", "2000",
    ],
    "se150.hitmin2.lineage": [
        *SINGLE, "--hitmin", "2", "--lowest", "species", "--lineage", "--taxids-only", "--separate-cols",
    ],
    "pe125.pairfiles.ins600": [
        *MATES[::-1], "--pairfiles", "--insertsize", "600", "--lowest", "species", "--tophits", "--taxids",
    ],
}  # fmt: skip


def run(device: Device, *words: str) -> None:
    assert main(["classify", *words, "-d", str(device.index), "-q"]) == 0


@pytest.fixture(scope="module")
def databases(device: Device, tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder, edge, viral = tmp_path_factory.mktemp("databases"), DATA / "edge", DATA / "viral"
    options = ["--winlen", "127", "--min-triplets", "0"]
    run(device, "build", f"{folder}/edge", f"{edge}/edge_ref.fna", "--taxonomy", str(edge), *options)
    run(device, "build", f"{folder}/short", f"{edge}/edge_ref.fna", "--taxonomy", str(edge), *SHORT)
    run(device, "build", f"{folder}/viral", f"{viral}/ref", "--taxonomy", f"{viral}/tax", *options)
    return folder


def metacache(words: list[str]) -> list[str]:
    hits = [] if "--hitmin" in words else ["--hitmin", "5"]
    return [*words, "--repeats", *hits, *([] if "--lowest" in words else ["--lowest", "sequence"])]


@pytest.mark.parametrize("name", EDGE)
def test_edge_cases(
    device: Device, databases: Path, name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(DATA / "edge")
    database = databases / ("short" if "k12" in name else "edge")
    run(device, "query", str(database), "edge_reads.fa", *metacache(EDGE[name]), "-o", f"{tmp_path}/out")
    assert (tmp_path / "out").read_text().splitlines(keepends=True) == golden_lines(f"edge/{name}.txt")


def comparable(text: str) -> list[str]:
    """The lines of a report; the golden files of viruses do not name the reads' files."""
    return [line for line in text.splitlines(keepends=True) if ".fq.gz" not in line]


@pytest.mark.each_value
@pytest.mark.parametrize("memory", ["1G", "2500k"])
@pytest.mark.parametrize("name", VIRAL)
def test_viruses(
    device: Device, databases: Path, name: str, memory: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """With memory for the whole database, and for parts of it only."""
    monkeypatch.chdir(DATA / "viral" / "reads")
    words = [str(databases / "viral"), *metacache(VIRAL[name]), "--max-memory", memory]
    run(device, "query", *words, "-o", f"{tmp_path}/out")
    assert comparable((tmp_path / "out").read_text()) == golden_lines(f"viral/{name}.txt.gz")


def test_abundances(device: Device, databases: Path, tmp_path: Path) -> None:
    words = [f"{DATA}/viral/reads/se150.fq.gz", "--no-map", "--lowest", "species", "--hitmin", "5", "--repeats"]
    words += ["-o", "/dev/null"]
    lists = ["--abundances", f"{tmp_path}/out", "--abundance-per", "genus"]
    run(device, "query", f"{databases}/viral", *words, *lists)
    assert (tmp_path / "out").read_text() == (DATA / "viral" / "se150.abundances.txt").read_text()


def test_the_figure_of_a_query(device: Device, databases: Path, tmp_path: Path) -> None:
    reads, figure = str(DATA / "edge" / "edge_reads.fa"), tmp_path / "reads.svg"
    run(device, "query", f"{databases}/edge", reads, "-o", f"{tmp_path}/lines", "--plot", str(figure))
    assert "T50" in figure.read_text()
    words = ["classify", "query", f"{databases}/edge", reads, "-o", f"{tmp_path}/others", "--plot", "reads.gif"]
    assert main([*words, "-q"]) == 2
    assert not (tmp_path / "others").exists()
