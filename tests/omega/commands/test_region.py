"""`--region` gives the reports of a file that holds only the records of the region."""

from __future__ import annotations

import gzip
from pathlib import Path

import pytest
from helpers.bgzf import bgzip
from helpers.pieces import check_combined, make_pieces, without_made

from oclgenomics.cli.main import main

DATA = Path(__file__).parents[2] / "data" / "omega"
WINDOWS = ["--grid", "20", "--minwin", "1k", "--maxwin", "50k"]


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A VCF of two chromosomes, `all.vcf`, and one of a region of the first, `cut.vcf`."""
    folder = tmp_path_factory.mktemp("region")
    lines = gzip.decompress((DATA / "chr20_1000G_300samples.vcf.gz").read_bytes()).decode().splitlines()
    heads = [line for line in lines if line.startswith("#")]
    records = [line.split("\t", 2) for line in lines if not line.startswith("#")][:3000]
    first, last = int(records[500][1]), int(records[1500][1])
    other = ["\t".join(["21", *fields[1:]]) for fields in records]
    same = ["\t".join(fields) for fields in records]
    kept = ["\t".join(fields) for fields in records if first <= int(fields[1]) <= last]
    (folder / "all.vcf").write_text("\n".join([*heads, *same, *other]) + "\n")
    (folder / "cut.vcf").write_text("\n".join([*heads, *kept]) + "\n")
    (folder / "region").write_text(f"{records[0][0]}:{first:,}-{last:,}")
    return folder


def region_of(folder: Path) -> list[str]:
    return ["--region", (folder / "region").read_text()]


@pytest.mark.parametrize("form", ["tsv", "json", "omegaplus"])
def test_reports_are_those_of_a_cut_file(folder, tmp_path, device, form):
    found = []
    for name, words in (("all", region_of(folder)), ("cut", [])):
        out = tmp_path / f"{name}.{form}"
        words = [*words, *WINDOWS, "--format", form, "-o", str(out), "-q", "-d", str(device.index)]
        assert main(["omega", "scan", str(folder / f"{name}.vcf"), *words]) == 0
        found.append(without_made(out.read_bytes()))
    assert found[0] == found[1]
    assert len(found[0].splitlines()) > (1 if form == "json" else 15)


def test_thresholds_are_those_of_a_cut_file(folder, tmp_path, device):
    found = []
    for name, words in (("all", region_of(folder)), ("cut", [])):
        out = tmp_path / f"{name}.tsv"
        words = [*words, *WINDOWS, "--fpr", "0.5", "-o", str(out), "-q", "-d", str(device.index)]
        assert main(["omega", "threshold", str(folder / f"{name}.vcf"), *words]) == 0
        found.append(without_made(out.read_bytes()))
    assert found[0] == found[1]


def test_pieces_and_workers_give_the_same(folder, tmp_path, device):
    command = ["omega", "scan", str(folder / "all.vcf"), *region_of(folder), *WINDOWS]
    check_combined(command, ["-d", str(device.index)], {"-o": "x.tsv"}, tmp_path, [2, 3])


def test_an_index_gives_the_same(folder, tmp_path, device, capsys):
    pysam = pytest.importorskip("pysam", reason="indexes are made by pysam")
    path = tmp_path / "all.vcf.gz"
    path.write_bytes(bgzip((folder / "all.vcf").read_bytes()))
    where = ["-q", "-d", str(device.index)]
    words = ["omega", "scan", str(path), *region_of(folder), *WINDOWS]
    assert main([*words, "-o", str(tmp_path / "whole.tsv"), *where]) == 0
    pysam.tabix_index(str(path), preset="vcf")
    check_combined(words, where[1:], {"-o": "x.tsv"}, tmp_path, [2])
    for name, how in (("one", where), ("two", ["-q", "--workers", f"{device.index},{device.index}"])):
        assert main([*words, "-o", str(tmp_path / name), *how]) == 0
        assert without_made((tmp_path / name).read_bytes()) == without_made((tmp_path / "whole.tsv").read_bytes())
    Path(f"{path}.tbi").write_bytes(b"x")
    assert main([*words, "-o", str(tmp_path / "x"), *where]) == 3
    assert "all.vcf.gz.tbi: damaged" in capsys.readouterr().err


def test_pieces_of_other_regions_do_not_combine(folder, tmp_path, device, capsys):
    command = ["omega", "scan", str(folder / "all.vcf"), *WINDOWS, "-d", str(device.index)]
    for name, words in (("one", region_of(folder)), ("two", []), ("three", ["--region", "21"])):
        (tmp_path / name).mkdir()
        make_pieces([*command, *words], 2, tmp_path / name)
    for other in ("two", "three"):
        pieces = [str(tmp_path / "one" / "1of2.piece"), str(tmp_path / other / "2of2.piece")]
        assert main(["omega", "combine", *pieces, "-o", str(tmp_path / "x.tsv"), "-q"]) == 3
        assert "region" in capsys.readouterr().err


@pytest.mark.parametrize("form", ["tsv", "json"])
def test_a_map_reads_what_the_scan_read(folder, tmp_path, device, form, capsys):
    maps = []
    for name, words in (("all", region_of(folder)), ("cut", [])):
        report, out = tmp_path / f"{name}.{form}", tmp_path / f"{name}.ld"
        where = ["-q", "-d", str(device.index)]
        source = str(folder / f"{name}.vcf")
        assert main(["omega", "scan", source, *words, *WINDOWS, "--format", form, "-o", str(report), *where]) == 0
        show = ["--scan", str(report), "--margin", "10M", "-o", str(out)]
        assert main(["omega", "ld", source, *show, *where]) == 0
        maps.append(without_made(out.read_bytes()))
    assert maps[0] == maps[1]
    assert "warning" not in capsys.readouterr().err


@pytest.mark.parametrize(
    ("region", "code", "message"),
    [
        ("19", 3, "all.vcf: holds no chromosome 19 (but 20, 21)"),
        ("20:1-2", 3, "has no record of chromosome 20 from 1 to 2 bp"),
        ("20:2M-1M", 2, "--region 20:2000000-1000000: its end comes before its start"),
        ("20:5", 2, "--region 20:5: write CHR, CHR:FROM- or CHR:FROM-TO"),
        ("20:a-b", 2, "'a' is no position"),
        ("", 2, "--region"),
    ],
)
def test_mistakes_are_one_line(folder, tmp_path, device, capsys, region, code, message):
    words = ["--region", region, *WINDOWS, "-o", str(tmp_path / "x"), "-d", str(device.index)]
    assert main(["omega", "scan", str(folder / "all.vcf"), *words]) == code
    told = capsys.readouterr().err.splitlines()[-1]
    assert message in told
    assert not (tmp_path / "x").exists()


def test_a_region_of_ms_is_refused(tmp_path, device, capsys):
    words = ["--region", "1", "--length", "1M", *WINDOWS, "-d", str(device.index)]
    assert main(["omega", "scan", str(DATA / "a50x5k.ms"), *words]) == 2
    assert "--region has no meaning for" in capsys.readouterr().err


def test_simulated_replicates_have_no_region(device, capsys):
    words = ["--region", "1", "--length", "1M", "--samples", "9", "--seed", "1", *WINDOWS, "-d", str(device.index)]
    assert main(["omega", "threshold", *words]) == 2
    assert "--region 1 has no effect" in capsys.readouterr().err
