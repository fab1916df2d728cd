"""A region of BCF with an index is that of the same BCF without one."""

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
from helpers.vcf_files import COLUMNS
from hypothesis import given, settings, strategies as st

from oclgenomics.errors import InputError
from oclgenomics.io.file_slice import FileSlice
from oclgenomics.io.placed_text import Place
from oclgenomics.variation import Alignment, ReadOptions, read_alignments
from oclgenomics.variation.read_options import Region
from oclgenomics.variation.readers.vcf import index_file, indexed_bcf
from oclgenomics.variation.readers.vcf.index_file import Places

pysam: Any = pytest.importorskip("pysam", reason="BCF is read by pysam")
NAMES = ("1", "10", "2")
SIZE, OVERHEAD = 100, 31  # of text in blocks that are not compressed, and of all else in one
HEAD = '##fileformat=VCFv4.2\n{}##FORMAT=<ID=GT,Number=1,Type=String,Description="G">\n'


def text_of(rows: int = 200, *, names: tuple[str, ...] = NAMES, known: tuple[str, ...] = NAMES, seed: int = 1) -> str:
    """A VCF of some chromosomes, with several records at some positions, and long distances between others."""
    rng = np.random.default_rng(seed)
    head = HEAD.format("".join(f"##contig=<ID={name}>\n" for name in known))
    lines = [head + "\t".join([COLUMNS, "a", "b"])]
    for name in names:
        near = rng.integers(1, 3 * rows, rows // 2)
        for position in np.sort(np.concatenate([near, rng.integers(1, 1 << 24, rows // 2)])).tolist():
            calls = "\t".join(f"{a}|{b}" for a, b in rng.integers(0, 2, (2, 2)).tolist())
            lines.append(f"{name}\t{position}\t.\tA\tC\t.\tPASS\t.\tGT\t{calls}")
    return "\n".join(lines) + "\n"


def stored(path: Path, text: str, *, size: int = 300) -> Path:
    """BCF in blocks of some bytes, so that records lie across their borders, with its index."""
    plain = path.with_suffix(".vcf")
    plain.write_text(text)
    with (
        pysam.VariantFile(str(plain)) as source,
        pysam.VariantFile(str(path), "wb", header=source.header) as out,
    ):
        for record in source:
            out.write(record)
    path.write_bytes(bgzip(unpacked(path), size=size))
    pysam.tabix_index(str(path), preset="bcf", force=True)
    return path


def unpacked(path: Path) -> bytes:
    with pysam.BGZFile(str(path)) as file:
        data: bytes = file.read()
    return data


def split(data: bytes) -> tuple[bytes, list[bytes]]:
    """The header of BCF, and its records."""
    at = 9 + int(struct.unpack_from("<I", data, 5)[0])
    header, found = data[:at], []
    while at < len(data):
        size = 8 + sum(struct.unpack_from("<II", data, at))
        assert at + size <= len(data)
        found.append(data[at : at + size])
        at += size
    return header, found


def inside(records: list[bytes], region: Region, names: tuple[str, ...] = NAMES) -> list[bytes]:
    """The records of a region."""
    found = []
    for record in records:
        number, position = struct.unpack_from("<ii", record, 8)
        if names[number] == region.chromosome and region.first <= position + 1 <= region.last:
            found.append(record)
    return found


def looked_up(path: Path, region: str) -> list[bytes] | str:
    """The records of a region as an index finds them, or the error."""
    try:
        part = indexed_bcf.bcf_with_region(str(path), Region.parse(region))
    except InputError as error:
        return str(error).split(": ", 1)[1]
    assert part is not None
    header, found = split(b"".join(part[1]))
    assert header == split(unpacked(path))[0]
    return inside(found, Region.parse(region))


@pytest.mark.parametrize("size", [40, 300, 5000, 65280])
def test_regions_are_those_of_the_whole_file(tmp_path: Path, size: int) -> None:
    path = stored(tmp_path / "a.bcf", text_of(), size=size)
    records = split(unpacked(path))[1]
    places = sorted({int(place) for place in re.findall(r"^10\t(\d+)", text_of(), re.MULTILINE)})
    borders = [*places[:3], places[0] + 1, places[70], places[71] + 1, places[120] - 1, *places[-2:], places[-1] + 1]
    spans = [f"10:{first}-{last}" for first in borders for last in borders if first <= last]
    for region in [*NAMES, *(f"{name}:100-" for name in NAMES), *(f"{name}:1-50" for name in NAMES), *spans]:
        assert looked_up(path, region) == inside(records, Region.parse(region))


@settings(max_examples=30, deadline=None)
@given(st.data(), st.integers(2, 60), st.sampled_from([30, 100, 1000]), st.integers(0, 1 << 16))
def test_any_bcf(
    tmp_path_factory: pytest.TempPathFactory, data: st.DataObject, rows: int, size: int, seed: int
) -> None:
    names = tuple(data.draw(st.permutations(NAMES))[: data.draw(st.integers(1, 3))])
    path = stored(tmp_path_factory.mktemp("bcf") / "a.bcf", text_of(rows, names=names, seed=seed), size=size)
    records = split(unpacked(path))[1]
    for name in names:
        first = data.draw(st.integers(1, 1 << 24))
        last = data.draw(st.integers(first, 1 << 24))
        for region in (name, f"{name}:{first}-{last}", f"{name}:{first}-"):
            assert looked_up(path, region) == inside(records, Region.parse(region))


def test_alignments_are_those_without_an_index(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = stored(tmp_path / "a.bcf", text_of())
    begun = []
    found = indexed_bcf.bcf_with_region
    monkeypatch.setattr(indexed_bcf, "bcf_with_region", lambda *words: begun.append(found(*words)) or begun[-1])
    for region in ("1", "10:300-5000000", "2:5000000-"):
        check_same(read(path, region), read(tmp_path / "a.vcf", region))
    assert len(begun) == 3
    assert None not in begun


def read(path: Path, region: str | None = None) -> list[Alignment] | str:
    try:
        return list(read_alignments(path, ReadOptions(region=region)))
    except InputError as error:
        return str(error).split(": ", 1)[1]


def test_only_a_part_is_read(tmp_path: Path) -> None:
    path = stored(tmp_path / "a.bcf", text_of(4_000), size=2_000)
    whole = len(unpacked(path))
    for region, share in (("10:8000000-8100000", 0.1), ("10", 0.4)):
        found = indexed_bcf.bcf_with_region(str(path), Region.parse(region))
        assert found is not None
        part, records = found
        assert isinstance(part, FileSlice)
        assert part.stop - part.start < share * path.stat().st_size
        assert 0 < sum(map(len, list(records)[1:])) < share * whole


@pytest.fixture(scope="module")
def ten(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, list[bytes]]:
    """Ten records of each chromosome, in stored blocks of one size."""
    path = stored(tmp_path_factory.mktemp("ten") / "a.bcf", text_of(10))
    data = unpacked(path)
    assert len(bgzip(data[:SIZE], SIZE, level=0)) == SIZE + OVERHEAD + len(END)
    path.write_bytes(bgzip(data, SIZE, level=0))
    Path(f"{path}.csi").touch()
    return path, split(data)[1]


def test_an_index_of_another_file_gives_no_wrong_result(tmp_path: Path) -> None:
    text = text_of()
    lines = text.splitlines(keepends=True)
    others = [
        text_of(150), text_of(seed=2), text_of(names=("1", "2", "10")), text_of(names=("10", "1", "2")),
        text_of(known=("10", "1", "2")), "".join(lines[:-1]), "".join(lines[:6] + lines[7:]), text + lines[-1],
        "".join(line for line in lines if not line.startswith("10\t")),
        "".join(line for line in lines if not line.startswith("1\t")),
    ]  # fmt: skip
    path = stored(tmp_path / "a.bcf", text)
    records = split(unpacked(path))[1]
    regions = [*NAMES, "10:100-300", "10:5000000-6000000", "1:200-", "2:1-50"]
    refused = 0
    for other in others:
        theirs = stored(tmp_path / "b.bcf", other)
        shutil.copy(f"{theirs}.csi", f"{path}.csi")
        for region in regions:
            found = looked_up(path, region)
            if isinstance(found, str):
                refused += 1
                assert re.search("of another file than|knows no record", found)
            else:
                assert found == inside(records, Region.parse(region))
    assert refused > len(others) * len(regions) / 2


@settings(max_examples=examples(300), deadline=None)
@given(st.data())
def test_any_places_give_no_wrong_result(ten: tuple[Path, list[bytes]], data: st.DataObject) -> None:
    """Whatever an index says, there is an error, or what the whole file gives."""
    path, records = ten
    starts = np.cumsum([len(split(unpacked(path))[0]), *map(len, records)]).tolist()
    owners = [struct.unpack_from("<i", record, 8)[0] for record in records]

    def place(byte: int) -> Place:
        return byte // SIZE * (SIZE + OVERHEAD), byte % SIZE

    def places(number: int) -> Places:
        own = [start for start, owner in zip(starts, owners, strict=False) if owner == number]
        begins = sorted(data.draw(st.sets(st.sampled_from(own), min_size=1)))
        end = own[-1] + len(records[starts.index(own[-1])])
        match data.draw(st.sampled_from(["right", "first", "end", "other", "within"])):
            case "first":
                begins = sorted({own[0], *begins})
            case "end":
                end = data.draw(st.sampled_from(starts))
            case "other":
                begins = sorted({data.draw(st.sampled_from(starts)), *begins})
            case "within":
                begins = sorted({data.draw(st.sampled_from(starts[:-1])) + data.draw(st.integers(1, 30)), *begins})
        return Places([place(byte) for byte in begins], place(end))

    told = [places(number) for number in range(len(NAMES))]
    positions = [struct.unpack_from("<i", record, 12)[0] + 1 for record in records]
    first = data.draw(st.sampled_from([1, *positions]))
    last = data.draw(st.sampled_from(["", *(at for at in positions if at >= first)]))
    region = data.draw(st.sampled_from(["10", f"10:{first}-{last}", f"1:{first}-{last}", f"2:{first}-{last}"]))
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(indexed_bcf, "read_index", lambda _index: ([], told))
        found = looked_up(path, region)
    if isinstance(found, str):
        assert "of another file than" in found
    else:
        assert found == inside(records, Region.parse(region))


def test_a_damaged_index_gives_no_wrong_result(tmp_path: Path) -> None:
    path = stored(tmp_path / "a.bcf", text_of(), size=2_000)
    index = Path(f"{path}.csi")
    records = split(unpacked(path))[1]
    whole = unpacked(index)
    rng = np.random.default_rng(3)
    damaged = [b"", b"x" * 50, index.read_bytes()[:40], *(bgzip(whole[:end]) for end in range(0, len(whole), 47))]
    for _ in range(100):
        changed = bytearray(whole)
        changed[rng.integers(len(whole))] ^= 1 << int(rng.integers(8))
        damaged.append(bgzip(bytes(changed)))
    errors = 0
    for data in damaged:
        index.write_bytes(data)
        for region in ("10", "10:100-300", "10:5000000-6000000"):
            found = looked_up(path, region)
            if isinstance(found, str):
                errors += 1
                assert re.search("damaged|of another file|knows no record", found), found
                assert "\n" not in found
            else:
                assert found == inside(records, Region.parse(region))
    assert errors > len(damaged)


def test_other_chromosomes_and_indexes(tmp_path: Path) -> None:
    path = stored(tmp_path / "a.bcf", text_of(known=("3", *NAMES)))
    assert read(path, "4") == "its header knows no chromosome 4 (but 3, 1, 10 and others)"
    assert read(path, "3") == "knows no record of chromosome 3"
    assert read(path, "10:30000000-") == "has no record of chromosome 10 from 30,000,000 bp on"
    time = os.stat(path).st_mtime_ns
    os.utime(f"{path}.csi", ns=(time - 10**9, time - 10**9))
    assert "is older than" in str(read(path, "10"))
    assert isinstance(read(path), list)
    shutil.copy(f"{path}.csi", f"{tmp_path / 'a.vcf'}.csi")
    assert indexed_bcf.bcf_with_region(str(tmp_path / "a.vcf"), Region("10")) is None
    assert index_file.read_index(f"{path}.csi")[0] == []


def test_a_file_cut_off_is_refused(tmp_path: Path) -> None:
    path = stored(tmp_path / "a.bcf", text_of())
    times = os.stat(path)
    path.write_bytes(path.read_bytes()[:-2000])
    os.utime(path, ns=(times.st_atime_ns, times.st_mtime_ns))
    assert "is of another file than" in str(read(path, "2"))
