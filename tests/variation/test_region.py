"""The records of a region are read as a file that holds only these is."""

from __future__ import annotations

import re
from itertools import pairwise
from pathlib import Path

import pytest
from helpers.alignments import check_same
from helpers.bgzf import bgzip
from helpers.products import examples
from helpers.vcf_files import COLUMNS, HEAD, files
from helpers.vcf_zarr import vcf_arrays, write_store
from hypothesis import assume, given, settings, strategies as st

from oclgenomics.errors import InputError, ParameterError
from oclgenomics.variation import Alignment, ReadOptions, read_alignments
from oclgenomics.variation.bed import MAX_BP
from oclgenomics.variation.read_options import Region
from oclgenomics.variation.readers.read import BLOCK_BYTES


def vcf(*records: str) -> str:
    """A VCF of some records of two samples; blanks in them become tabs."""
    lines = [HEAD.strip(), f"{COLUMNS}\ta\tb", *(record.replace(" ", "\t") for record in records)]
    return "\n".join(lines) + "\n"


def snp(chromosome: str, position: int, alleles: str = "A C") -> str:
    return f"{chromosome} {position} . {alleles} . PASS . GT 0|1 1|{position % 2}"


TEXT = vcf(
    snp("1", 10), snp("1", 20), snp("1", 20, "A G"), snp("1", 30), snp("2", 15, "ACGTACGTAC A"), snp("2", 20),
    snp("2", 21), snp("2", 40), snp("X:1", 20),
)  # fmt: skip


def found_in(path: Path, block_bytes: int = BLOCK_BYTES, threads: int = 1, **options: object) -> list[Alignment] | str:
    """The alignments of a file, or what is said of it, without places in it."""
    try:
        reading = ReadOptions(**options)  # type: ignore[arg-type]
        return list(read_alignments(path, reading, block_bytes=block_bytes, threads=threads))
    except InputError as error:
        return str(error).split(": ", 1)[1]


def cut(text: str, chromosome: str, first: int, last: int) -> tuple[str, int]:
    """A VCF with the records of a region alone, and how many these are."""
    lines = text.splitlines(keepends=True)
    heads = [line for line in lines if line.startswith("#")]
    fields = [(line, line.split("\t")) for line in lines if not line.startswith("#")]
    kept = [line for line, (name, place, *_) in fields if name == chromosome and first <= int(place) <= last]
    return "".join(heads + kept), len(kept)


@settings(max_examples=examples(150))
@given(
    file=files(), block=st.sampled_from([1, 100, 700, 1 << 22]), threads=st.sampled_from([1, 3]),
    phase=st.sampled_from(["auto", "missing", "strict", "ignore"]), kind=st.sampled_from(["vcf", "gz", "vcz"]),
    data=st.data(),
)  # fmt: skip
def test_a_region_is_a_file_of_its_records(tmp_path_factory, file, block, threads, phase, kind, data):
    text, _ = file
    places = re.findall(r"^([^#\t]+)\t(\d+)", text, re.MULTILINE)
    chromosome = data.draw(st.sampled_from(places))[0]
    borders = st.sampled_from([int(place) + step for _, place in places for step in (-1, 0, 1)])
    first, last = sorted(max(1, data.draw(borders)) for _ in range(2))
    whole, words = data.draw(st.sampled_from([(0, f"{chromosome}"), (1, f"{chromosome}:{first}-"),
                                              (2, f"{chromosome}:{first}-{last}")]))  # fmt: skip
    first, last = (0, MAX_BP) if whole == 0 else (first, MAX_BP if whole == 1 else last)
    expected_text, count = cut(text, chromosome, first, last)
    folder = tmp_path_factory.mktemp("region")
    paths = []
    for name, content in (("all", text), ("cut", expected_text)):
        path = folder / f"{name}.{kind}"
        if kind == "vcf":
            path.write_text(content, newline="")
        elif kind == "gz":
            path.write_bytes(bgzip(content.encode(), size=97))
        elif count:
            pytest.importorskip("zarr")
            assume("\tGT" in expected_text)  # or the cut store has no array of calls
            write_store(path, vcf_arrays(content), 2, 2)
        paths.append(path)
    if not count:
        if kind != "vcz":
            told = found_in(paths[0], block, threads, phase=phase, region=words)
            assert isinstance(told, str)
            assert "no record of chromosome" in told
        return
    found = found_in(paths[0], block, threads, phase=phase, region=words)
    check_same(found, found_in(paths[1], block, threads, phase=phase))


@pytest.mark.parametrize(
    ("region", "positions"),
    [
        ("1", [10, 20, 20, 30]), ("1:10-30", [10, 20, 20, 30]), ("1:11-29", [20, 20]), ("1:20-20", [20, 20]),
        ("1:21-", [30]), ("2:18-", [20, 21, 40]), ("2:1-20", [20]), ("X:1:1-", [20]), ("1:1,0-2,0", [10, 20, 20]),
    ],
)  # fmt: skip
@pytest.mark.parametrize("block", [1, 1 << 20])
def test_borders_are_inclusive(tmp_path, region, positions, block):
    (tmp_path / "a.vcf").write_text(TEXT)
    (alignment,) = read_alignments(tmp_path / "a.vcf", ReadOptions(region=region), block_bytes=block)
    assert alignment.positions.tolist() == positions


def test_a_deletion_belongs_to_its_position(tmp_path):
    (tmp_path / "a.vcf").write_text(TEXT)
    for region, skipped in (("2:15-", {"not a SNP": 1}), ("2:16-", {})):  # it is counted where it is read
        (alignment,) = read_alignments(tmp_path / "a.vcf", ReadOptions(region=region))
        assert alignment.skipped == skipped


def test_errors_name_the_line_of_the_file_and_only_within_the_region(tmp_path):
    lines = TEXT.splitlines()
    lines[3] = lines[3].replace("0|1", "0|7")
    (tmp_path / "a.vcf").write_text("\n".join(lines) + "\n")
    for block in (1, 1 << 20):
        with pytest.raises(InputError, match="line 4"):
            list(read_alignments(tmp_path / "a.vcf", ReadOptions(region="1:20-"), block_bytes=block))
        (alignment,) = read_alignments(tmp_path / "a.vcf", ReadOptions(region="1:21-"), block_bytes=block)
        assert alignment.sites == 1


@pytest.mark.parametrize(
    ("region", "message"),
    [
        ("3", "holds no chromosome 3 (but 1, 2, X:1)"),
        ("chr1:1-20", "holds no chromosome chr1 (but 1, 2, X:1)"),
        ("1:11-19", "has no record of chromosome 1 from 11 to 19 bp"),
        ("1:31-", "has no record of chromosome 1 from 31 bp on"),
    ],
)
@pytest.mark.parametrize("kind", ["vcf", "vcz"])
def test_nothing_in_a_region_is_an_error(tmp_path, region, message, kind):
    path = tmp_path / f"a.{kind}"
    if kind == "vcf":
        path.write_text(TEXT)
    else:
        pytest.importorskip("zarr")
        write_store(path, vcf_arrays(TEXT), 2, 2)
    assert found_in(path, region=region) == message


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", "write CHR"), ("1:", "write CHR"), (":1-2", "write CHR"), ("1:5", "write CHR"), ("1:-5", "write CHR"),
        ("1:a-b", "write CHR"), ("1:1-2-3", "write CHR"), ("1:,-2", "write CHR"), ("1:1-,", "write CHR"),
        ("1:1.5-2", "write CHR"), ("X:1", "write CHR"), ("1:0-5", "positions lie between 1 and"),
        (f"1:1-{MAX_BP + 1}", "positions lie between 1 and"), ("1:9-8", "its end comes before its start"),
    ],
)  # fmt: skip
def test_what_is_no_region_is_refused(text, message):
    with pytest.raises(ParameterError, match=message):
        ReadOptions(region=text)


def test_regions_are_read_from_words():
    assert Region.parse("20") == Region("20", 0, MAX_BP)
    assert Region.parse("20:1,000-2,000") == Region("20", 1000, 2000)
    assert Region.parse("HLA:01:5-") == Region("HLA:01", 5, MAX_BP)


@pytest.mark.parametrize("kind", ["ms", "mbs", "macs", "fasta", "trees"])
def test_formats_without_chromosomes_are_refused(tmp_path, kind):
    (tmp_path / "a").write_text("x\n")
    with pytest.raises(ParameterError, match=rf"region has no meaning for .*a \({kind}\)"):
        list(read_alignments(tmp_path / "a", ReadOptions(region="1", format=kind, length=100)))


def test_a_chromosome_in_two_parts_joins(tmp_path):
    """What a file of these records holds; the file itself is refused."""
    (tmp_path / "a.vcf").write_text(vcf(snp("1", 10), snp("2", 5), snp("1", 20)))
    assert "come again" in str(found_in(tmp_path / "a.vcf"))
    (alignment,) = read_alignments(tmp_path / "a.vcf", ReadOptions(region="1"))
    assert [b - a for a, b in pairwise(alignment.positions.tolist())] == [10]
    (tmp_path / "a.vcf").write_text(vcf(snp("1", 10), snp("2", 5), snp("1", 9)))
    assert "comes after" in str(found_in(tmp_path / "a.vcf", region="1"))
