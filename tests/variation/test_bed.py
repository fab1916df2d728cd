"""BED regions: what a line may be, and half-open coordinates to the base pair."""

from __future__ import annotations

import gzip

import numpy as np
import pytest
from hypothesis import given, strategies as st

from oclgenomics.errors import InputError
from oclgenomics.io.source import Source
from oclgenomics.variation import bed
from oclgenomics.variation.bed import BedRegions, bed_name, read_bed


def write(tmp_path, text: str, name: str = "x.bed"):
    path = tmp_path / name
    data = text.encode()
    path.write_bytes(gzip.compress(data) if name.endswith(".gz") else data)
    return path


def test_regions_are_half_open_and_counted_from_zero(tmp_path):
    regions = read_bed(write(tmp_path, "chr1\t10\t20\n"))
    assert regions.covers("chr1", np.array([9, 10, 11, 20, 21])).tolist() == [False, False, True, True, False]
    assert not regions.covers("chr2", np.array([11])).any()


@pytest.mark.parametrize("name", ["x.bed", "x.bed.gz"])
def test_headers_comments_blanks_and_further_columns(name, tmp_path):
    text = 'track name="gaps"\nbrowser x\n# a comment\n\nchr1\t5\t6\tname\t0\t+\r\nchr 2\t0\t3\nX 1 2\nY 0 9'
    regions = read_bed(write(tmp_path, text, name))
    assert regions.names == ("chr1", "chr 2", "X", "Y")
    assert regions.covers("chr 2", np.array([1, 3, 4])).tolist() == [True, True, False]


def test_overlapping_touching_and_empty_regions(tmp_path):
    regions = read_bed(write(tmp_path, "1\t50\t60\n1\t10\t20\n1\t20\t30\n1\t12\t14\n1\t40\t40\n2\t7\t7\n"))
    assert regions.starts["1"].tolist() == [10, 50]
    assert regions.ends["1"].tolist() == [30, 60]
    assert regions.starts["2"].tolist() == []
    assert not regions.covers("2", np.array([7, 8])).any()


@given(
    st.lists(st.tuples(st.integers(0, 60), st.integers(0, 12)), max_size=12),
    st.lists(st.integers(0, 80), max_size=30).map(sorted),
)
def test_covers_what_any_region_covers(pairs, positions):
    regions = BedRegions.of([("a", start, start + size) for start, size in pairs])
    expected = [any(start < at <= start + size for start, size in pairs) for at in positions]
    assert regions.covers("a", np.array(positions, np.int64)).tolist() == expected


REGION = st.tuples(st.sampled_from("ab"), st.integers(0, 6), st.integers(0, 3))


@given(st.lists(REGION, max_size=5), st.lists(REGION, max_size=5), st.randoms(use_true_random=False))
def test_checksums_are_equal_where_the_same_bp_lie_in_regions(one, other, order):
    def made(regions):
        return BedRegions.of([(name, start, start + size) for name, start, size in regions])

    def covered(regions, name):
        return {at for own, start, size in regions for at in range(start, start + size) if own == name}

    mixed = [*one, *one[:2]]
    order.shuffle(mixed)
    assert made(mixed).checksum == made(one).checksum
    same = {name: covered(one, name) == covered(other, name) for name in "abc"}
    for name, equal in same.items():
        assert (made(one).checksum_of(name) == made(other).checksum_of(name)) == equal
    assert (made(one).checksum == made(other).checksum) == all(same.values())
    renamed = made([("c" if name == "a" else name, start, size) for name, start, size in one])
    assert renamed.checksum_of("c") == made(one).checksum_of("a")
    assert (renamed.checksum == made(one).checksum) == (not covered(one, "a"))


@pytest.mark.parametrize(
    ("line", "message"),
    [
        ("chr1\t5", "at least 3 columns"),
        ("chr1\tfive\t6", "no region"),
        ("chr1\t-1\t6", "no region"),
        ("chr1\t1.5\t6", "no region"),
        ("\t1\t6", "no region"),
        ("chr1\t7\t6", "ends at 6, before its start 7"),
        (f"chr1\t1\t{10**30}", "beyond every chromosome"),
    ],
)
def test_a_malformed_line_is_named(line, message, tmp_path):
    with pytest.raises(InputError, match=f"line 3: .*{message}"):
        read_bed(write(tmp_path, f"# header\nchr1\t1\t2\n{line}\n"))


def test_an_empty_file_and_a_missing_one(tmp_path):
    with pytest.raises(InputError, match="empty"):
        read_bed(write(tmp_path, ""))
    with pytest.raises(InputError, match="no such file"):
        read_bed(tmp_path / "missing.bed")


def test_names_are_one_column():
    assert bed_name("a b\tc") == "a_b_c"


PLACES = st.tuples(
    st.sampled_from(["chr1", "HLA-A*01:01", "chr 2", "chr10"]), st.integers(0, 10**11), st.integers(0, 50)
)
ODD = st.sampled_from(
    ["# x", "", "track a", "track\t1\t5", "7 3 9", "1\t 4\t5 ", "chr1\t007\t9\tname\t0", "chr1\t5\t6\r"]
)
LINES = st.lists(PLACES.map(lambda one: f"{one[0]}\t{one[1]}\t{one[1] + one[2]}") | ODD, max_size=12)


@given(lines=LINES, chunk=st.sampled_from([1, 7, 40, 1 << 20]), last=st.booleans())
def test_blocks_of_plain_lines_are_read_as_their_lines(lines, chunk, last, tmp_path_factory):
    path = tmp_path_factory.mktemp("bed") / "x.bed"
    lines = [*lines, "1\t2\t3"]
    path.write_text("\n".join(lines) + "\n" * last, newline="")
    rows = [(line.split("\t") if "\t" in line else line.split()) for line in lines]
    rows = [row for row in rows if len(row) >= 3 and row[0] != "track"]
    expected = BedRegions.of([(row[0], int(row[1]), int(row[2])) for row in rows])
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(bed, "Source", lambda name: Source(name, chunk_bytes=chunk))
        found = read_bed(path)
    for name in expected.names:
        assert found.starts[name].tolist() == expected.starts[name].tolist()
        assert found.ends[name].tolist() == expected.ends[name].tolist()
    assert set(found.names) == set(expected.names)


@pytest.mark.parametrize("wrong", ["chr1\t9\t8", "chr1\t5", "chr1\t5\tx", "chr1\t8\t1234567890123456789"])
@pytest.mark.parametrize("chunk", [25, 1 << 20])
def test_a_wrong_line_among_plain_ones_is_named(wrong, chunk, tmp_path, monkeypatch):
    path = write(tmp_path, "chr1\t5\t6\nchr1\t7\t8\n" * 3 + wrong + "\nchr1\t5\t6\n")
    monkeypatch.setattr(bed, "Source", lambda name: Source(name, chunk_bytes=chunk))
    with pytest.raises(InputError, match="line 7"):
        read_bed(path)
