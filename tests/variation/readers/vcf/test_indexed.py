"""A region of a VCF with an index is that of the same VCF without one."""

from __future__ import annotations

import os
import re
import shutil
import struct
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from helpers.alignments import check_same
from helpers.bgzf import END, bgzip
from helpers.products import examples
from helpers.vcf_files import COLUMNS, HEAD, files
from hypothesis import assume, given, settings, strategies as st

from oclgenomics.errors import InputError
from oclgenomics.io.file_slice import FileSlice
from oclgenomics.variation import Alignment, ReadOptions, read_alignments
from oclgenomics.variation.read_options import Region
from oclgenomics.variation.readers.vcf import indexed

pysam: Any = pytest.importorskip("pysam", reason="indexes are made by pysam")
NAMES = ("1", "10", "2")


@pytest.fixture(autouse=True)
def _near(monkeypatch: pytest.MonkeyPatch) -> None:
    """Have small files searched, too."""
    monkeypatch.setattr(indexed, "NEAR_BYTES", 1)
    monkeypatch.setattr(indexed, "BACK_BYTES", 200)


def text_of(rows: int = 200, *, names: tuple[str, ...] = NAMES, seed: int = 1, samples: int = 3) -> str:
    """A VCF of some chromosomes, with several records at some positions."""
    rng = np.random.default_rng(seed)
    lines = [HEAD.strip(), "\t".join([COLUMNS, *(f"s{number}" for number in range(samples))])]
    for name in names:
        for position in np.sort(rng.integers(1, 3 * rows, rows)).tolist():
            calls = "\t".join(f"{a}|{b}" for a, b in rng.integers(0, 2, (samples, 2)).tolist())
            lines.append(f"{name}\t{position}\t.\tA\tC\t.\tPASS\t.\tGT\t{calls}")
    return "\n".join(lines) + "\n"


def stored(path: Path, text: str, *, csi: bool = False, size: int = 300) -> Path:
    """A file of bgzip with its index."""
    path.write_bytes(bgzip(text.encode(), size=size))
    pysam.tabix_index(str(path), preset="vcf", csi=csi, force=True)
    return path


def read(path: Path, region: str | None = None, threads: int = 1, block: int = 1 << 22) -> list[Alignment] | str:
    try:
        return list(read_alignments(path, ReadOptions(region=region), threads=threads, block_bytes=block))
    except InputError as error:
        return str(error).split(": ", 1)[1]


@pytest.mark.parametrize("csi", [False, True])
@pytest.mark.parametrize("size", [40, 300, 5000, 65280])
def test_regions_are_those_without_an_index(tmp_path, csi, size):
    text = text_of()
    (tmp_path / "a.vcf").write_text(text)
    path = stored(tmp_path / "a.vcf.gz", text, csi=csi, size=size)
    places = sorted({int(place) for place in re.findall(r"^10\t(\d+)", text, re.MULTILINE)})
    borders = [*places[:3], places[0] + 1, places[70], places[71] - 1, places[71] + 1, *places[-2:], places[-1] + 1]
    regions = [f"10:{first}-{last}" for first in borders for last in borders if first <= last]
    for region in [*NAMES, *(f"{name}:100-" for name in NAMES), *regions]:
        check_same(read(path, region), read(tmp_path / "a.vcf", region))


def test_a_chromosome_that_begins_with_a_block(tmp_path, monkeypatch):
    monkeypatch.setattr(indexed, "BACK_BYTES", 1)  # the block before is longer
    text = text_of(40)
    (tmp_path / "a.vcf").write_text(text)
    path = stored(tmp_path / "a.vcf.gz", text, size=text.index("\n10\t") + 1)
    for name in NAMES:
        check_same(read(path, name), read(tmp_path / "a.vcf", name))


@settings(max_examples=examples(50), deadline=None)
@given(
    file=files(), size=st.sampled_from([20, 97, 1000]), csi=st.booleans(), block=st.sampled_from([1, 500, 1 << 22]),
    threads=st.sampled_from([1, 3]), data=st.data(),
)  # fmt: skip
def test_any_vcf_gives_what_it_gives_without_an_index(tmp_path_factory, file, size, csi, block, threads, data):
    text, _ = file
    places = re.findall(r"^([^#\t]+)\t(\d+)", text, re.MULTILINE)
    assume(all(int(place) for _, place in places))  # which tabix takes for no position
    name = data.draw(st.sampled_from(places))[0]
    borders = st.sampled_from([int(place) + step for _, place in places for step in (-1, 0, 1)])
    first, last = sorted(max(1, data.draw(borders)) for _ in range(2))
    region = data.draw(st.sampled_from([name, f"{name}:{first}-", f"{name}:{first}-{last}"]))
    folder = tmp_path_factory.mktemp("indexed")
    path = stored(folder / "a.vcf.gz", text, csi=csi, size=size)
    found = read(path, region, threads, block)
    for index in folder.glob("*.gz.*"):
        index.unlink()
    check_same(found, read(path, region, threads, block))


@pytest.mark.parametrize("csi", [False, True])
def test_only_a_part_is_read(tmp_path, csi):
    path = stored(tmp_path / "a.vcf.gz", text_of(), csi=csi)
    data = bytearray(path.read_bytes())
    part = indexed.part_with_region(str(path), Region.parse("10:200-220"))
    assert isinstance(part, FileSlice)
    assert part.stop - part.start < len(data) / 20
    expected = read(path, "10:200-220")
    times = os.stat(path)
    data[part.stop + 500 : part.stop + 520] = bytes(20)  # a few blocks behind it, where nothing was looked at
    path.write_bytes(data)
    os.utime(path, ns=(times.st_atime_ns, times.st_mtime_ns))
    found = read(path, "10:200-220")
    if isinstance(found, str):  # a place that the search looks at
        assert "damaged" in found
    else:
        check_same(found, expected)
    assert isinstance(read(path), str)


def test_long_lines_and_a_last_line_without_its_end(tmp_path):
    text = text_of(6, samples=3000).rstrip("\n")
    (tmp_path / "a.vcf").write_text(text)
    path = stored(tmp_path / "a.vcf.gz", text, size=1000)
    for region in [*NAMES, "2:5-", "1:1-9", "10:8-12"]:
        check_same(read(path, region), read(tmp_path / "a.vcf", region))


def test_an_older_index_is_refused(tmp_path):
    path = stored(tmp_path / "a.vcf.gz", text_of())
    time = os.stat(path).st_mtime_ns
    os.utime(f"{path}.tbi", ns=(time - 10**9, time - 10**9))
    with pytest.raises(InputError, match=r"a\.vcf\.gz\.tbi: is older than .*a\.vcf\.gz; make it again"):
        list(read_alignments(path, ReadOptions(region="10")))
    assert not isinstance(read(path), str)  # without a region it is not looked at


@pytest.mark.parametrize("csi", [False, True])
def test_an_index_of_another_file_gives_no_wrong_result(tmp_path, csi):
    text = text_of()
    lines = text.splitlines(keepends=True)
    others = [
        text_of(150), text_of(seed=2), text_of(names=("1", "2", "10")), text_of(names=("10", "1", "2")),
        "".join(lines[:-1]), "".join(lines[:2] + lines[3:]), text + lines[-1], text.replace("PASS", "q10"),
        "".join(lines[:2] + lines[-200:] + lines[2:-200]), text.replace("\n10\t", "\n1\t"),
        text.replace("\n10\t1", "\n10\t2"),
    ]  # fmt: skip
    suffix = "csi" if csi else "tbi"
    refused = 0
    path = stored(tmp_path / "a.vcf.gz", text, csi=csi)
    regions = [*NAMES, "10:100-300", "1:200-", "2:1-50"]
    expected = {region: read(tmp_path / "a.vcf.gz", region) for region in regions}
    for other in others:
        theirs = stored(tmp_path / "b.vcf.gz", "".join(sorted_records(other)), csi=csi)
        shutil.copy(f"{theirs}.{suffix}", f"{path}.{suffix}")
        for region in regions:
            found = read(path, region)
            if isinstance(found, str):
                refused += 1
                assert "of another file than" in found or "knows no chromosome" in found
            else:
                check_same(found, expected[region])
    assert refused > len(others) * len(regions) / 2


def sorted_records(text: str) -> list[str]:
    """The lines of a VCF, each chromosome in order."""
    lines = text.splitlines(keepends=True)
    order = list(dict.fromkeys(line.split("\t")[0] for line in lines[2:]))
    return lines[:2] + sorted(lines[2:], key=lambda line: (order.index(line.split("\t")[0]), int(line.split("\t")[1])))


@pytest.mark.parametrize("csi", [False, True])
def test_a_damaged_index_gives_no_wrong_result(tmp_path, csi):
    path = stored(tmp_path / "a.vcf.gz", text_of(), csi=csi)
    index = Path(f"{path}.{'csi' if csi else 'tbi'}")
    expected = read(path, "10:100-300")
    with pysam.BGZFile(str(index)) as file:
        whole = file.read()
    rng = np.random.default_rng(3)
    damaged = [b"", b"x" * 50, index.read_bytes()[:40], index.read_bytes()[: -len(END) - 9]]
    damaged += [bgzip(whole[:end]) for end in range(0, len(whole), 7)]
    for _ in range(300):
        changed = bytearray(whole)
        changed[rng.integers(len(whole))] ^= 1 << int(rng.integers(8))
        damaged.append(bgzip(bytes(changed)))
    damaged += [bgzip(whole.replace(struct.pack("<i", 3), struct.pack("<i", number))) for number in (-1, 0, 1 << 30)]
    errors = 0
    for data in damaged:
        index.write_bytes(data)
        found = read(path, "10:100-300")
        if isinstance(found, str):
            errors += 1
            assert re.search("damaged|of another file|knows no chromosome", found), found
            assert "\n" not in found
        else:
            check_same(found, expected)
    assert errors > 100


def test_a_chromosome_that_the_index_does_not_know(tmp_path):
    path = stored(tmp_path / "a.vcf.gz", text_of())
    assert read(path, "3") == "knows no chromosome 3 (but 1, 10, 2)"
    assert read(path, "10:1000-2000") == "has no record of chromosome 10 from 1,000 to 2,000 bp"


def test_an_index_beside_another_file_is_not_looked_at(tmp_path):
    text = text_of()
    path = stored(tmp_path / "a.vcf.gz", text)
    plain = tmp_path / "a.vcf"
    plain.write_text(text)
    shutil.copy(f"{path}.tbi", f"{plain}.tbi")
    assert indexed.part_with_region(str(plain), Region("10")) is None
    check_same(read(plain, "10"), read(path, "10"))


def test_a_file_cut_off_is_refused(tmp_path):
    path = stored(tmp_path / "a.vcf.gz", text_of())
    times = os.stat(path)
    path.write_bytes(path.read_bytes()[:-2000])
    os.utime(path, ns=(times.st_atime_ns, times.st_mtime_ns))
    assert "is of another file than" in str(read(path, "2"))


def test_errors_say_from_where_they_count(tmp_path):
    text = text_of().splitlines(keepends=True)
    text[350] = text[350].replace("0|", "7|", 1) if "0|" in text[350] else text[350].replace("1|", "7|", 1)
    path = stored(tmp_path / "a.vcf.gz", "".join(text))
    with pytest.raises(InputError, match=r"a\.vcf\.gz from stored byte \d+ on, line \d+, byte \d+: allele 7"):
        list(read_alignments(path, ReadOptions(region="10")))
