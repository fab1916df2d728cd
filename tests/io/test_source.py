"""Opening: every way an input can fail says so in one line; gzip in all its shapes."""

from __future__ import annotations

import contextlib
import gzip
import io
import itertools
import os
import subprocess
import sys
import threading
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest
from helpers.bgzf import END, bgzip

from oclgenomics.errors import InputError
from oclgenomics.io import inflate, raw_file as stored
from oclgenomics.io.raw_file import StoredBytes
from oclgenomics.io.source import Source
from oclgenomics.io.workers import Workers
from oclgenomics.variation import ReadOptions, read_alignments

MS = b"ms 2 1\n1 2 3\n\n//\nsegsites: 3\npositions: 0.1 0.2 0.3\n" + b"010\n111\n" * 500
VCF = b"##fileformat=VCFv4.2\n#CHROM\tPOS\tID\tREF\tALT\tQUAL\tFILTER\tINFO\tFORMAT\ta\n" + b"".join(
    b"1\t%d\t.\tA\tG\t.\t.\t.\tGT\t0|1\n" % i for i in range(2000)
)


@pytest.fixture(params=["isal", "zlib"])
def inflater(request, monkeypatch):
    """Both ways of inflating."""
    if request.param == "zlib":
        monkeypatch.setitem(__import__("sys").modules, "isal", None)
    else:
        pytest.importorskip("isal")


def content(path, **options):
    with Source(path, **options) as source:
        return b"".join(source)


@pytest.mark.usefixtures("inflater")
@pytest.mark.parametrize("chunk", [1, 100, 1 << 20])
def test_gzip_of_one_and_of_many_members(tmp_path, chunk):
    path = tmp_path / "x.gz"
    path.write_bytes(gzip.compress(VCF))
    assert content(path, chunk_bytes=chunk) == VCF
    members = [gzip.compress(VCF[i : i + 999]) for i in range(0, len(VCF), 999)]
    path.write_bytes(b"".join(members) + gzip.compress(b"", mtime=0) + bytes(512))
    assert content(path, chunk_bytes=chunk) == VCF


@pytest.mark.usefixtures("inflater")
@pytest.mark.parametrize("keep", [5, 12, 300, -9, -1])
def test_truncated_gzip(tmp_path, keep):
    path = tmp_path / "x.vcf.gz"
    path.write_bytes(gzip.compress(VCF)[:keep])
    with pytest.raises(InputError, match="ends in the middle"):
        list(read_alignments(path))


@pytest.mark.usefixtures("inflater")
def test_damaged_gzip(tmp_path):
    packed = bytearray(gzip.compress(VCF))
    packed[len(packed) // 2] ^= 0x55
    path = tmp_path / "x.vcf.gz"
    path.write_bytes(packed)
    with pytest.raises(InputError, match="damaged gzip"):
        list(read_alignments(path))
    path.write_bytes(gzip.compress(VCF) + b"more text that no gzip member begins with")
    with pytest.raises(InputError, match="damaged gzip"):
        list(read_alignments(path))


def test_truncated_between_members_is_seen_as_a_short_last_line(tmp_path):
    path = tmp_path / "x.vcf.gz"
    path.write_bytes(gzip.compress(VCF[: len(VCF) - 5]))
    with pytest.raises(InputError, match="line 2002"):
        list(read_alignments(path))


def test_missing_file_folder_and_permission(tmp_path, monkeypatch):
    with pytest.raises(InputError, match="no such file") as caught:
        list(read_alignments(tmp_path / "absent"))
    assert caught.value.exit_code == 3
    with pytest.raises(InputError, match="is a folder"):
        list(read_alignments(tmp_path))

    def refuse(*_args, **_options):
        raise PermissionError(13, "Permission denied")

    monkeypatch.setattr("builtins.open", refuse)
    with pytest.raises(InputError, match="no permission to read it"):
        list(read_alignments(tmp_path / "x"))


def test_empty_blocks_of_bgzip_are_not_gathered(tmp_path):
    """However many there are: each holds no text to wait for."""
    path = tmp_path / "x.gz"
    path.write_bytes(END * (5 * inflate._STRETCH_BYTES // len(END)) + bgzip(b"text"))
    with contextlib.closing(StoredBytes(str(path))) as stored_bytes:
        stretches = [len(stretch.data) for stretch in inflate._stretches(stored_bytes)]
    assert sum(stretches) == path.stat().st_size
    assert max(stretches) < inflate._STRETCH_BYTES + len(END)
    with Source(path) as source:
        assert b"".join(source) == b"text"


@pytest.mark.parametrize(
    ("data", "message"),
    [
        (b"", "is empty"),
        (b"\n\n", "is empty"),
        (gzip.compress(b"", mtime=0), "is empty"),
        (b"BZh91AY", "bzip2 data ends in the middle"),
        (b"\xfd7zXZ\0", "xz data ends in the middle"),
        (b"BCF\x02\x02rest", "BCF"),
        (gzip.compress(b"BCF\x02\x02rest", mtime=0), "BCF"),
        (b"what is this\n", "none of ms, MaCS, FASTA and VCF"),
    ],
)
def test_what_is_no_alignment(tmp_path, data, message):
    path = tmp_path / "x"
    path.write_bytes(data)
    with pytest.raises(InputError, match=message) as caught:
        list(read_alignments(path, ReadOptions(length=10)))
    assert str(path) in str(caught.value)
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize("packed", [False, True])
def test_standard_input(monkeypatch, packed):
    class Pipe:
        buffer = io.BytesIO(gzip.compress(MS) if packed else MS)

    monkeypatch.setattr("sys.stdin", Pipe())
    (alignment,) = read_alignments("-", ReadOptions(length=100))
    assert (alignment.sites, alignment.haplotypes, alignment.source) == (3, 1000, "-")


def test_error_in_standard_input_names_it(monkeypatch):
    class Pipe:
        buffer = io.BytesIO(MS + b"01\n")

    monkeypatch.setattr("sys.stdin", Pipe())
    with pytest.raises(InputError, match=r"^standard input, line 1007"):
        list(read_alignments("-", ReadOptions(length=100)))


SCAN = [sys.executable, "-m", "oclgenomics", "omega", "scan", "-"]
SCAN += ["--grid", "5", "--minwin", "1", "--maxwin", "9"]


def test_a_pipe_that_stays_open_does_not_hold_up_a_refusal():
    with subprocess.Popen(SCAN, stdin=subprocess.PIPE, stderr=subprocess.PIPE) as process:
        assert process.stdin is not None
        assert process.stderr is not None
        with contextlib.suppress(BrokenPipeError):
            process.stdin.write(b"BCF\x02\x02" + bytes(3 << 20))
        assert process.wait(60) == 3
        (line,) = process.stderr.read().splitlines()
        with contextlib.suppress(BrokenPipeError):
            process.stdin.close()
    assert line.startswith(b"oclgenomics: error: standard input: ")
    assert b"BCF" in line


def test_closed_standard_input():
    run = subprocess.run(["sh", "-c", '"$@" <&-', "sh", *SCAN], capture_output=True, check=False)
    assert run.returncode == 3
    assert run.stderr.splitlines() == [b"oclgenomics: error: standard input: cannot be read: Bad file descriptor"]


def test_stopping_early_ends_the_thread(tmp_path):
    path = tmp_path / "x.vcf.gz"
    path.write_bytes(gzip.compress(VCF.replace(b"\n1\t", b"\n2\t", 900)))
    before = threading.active_count()
    reader = read_alignments(path, block_bytes=1024)
    next(reader)
    reader.close()
    assert threading.active_count() == before


def test_progress_counts_the_stored_bytes(tmp_path):
    path = tmp_path / "x.vcf.gz"
    path.write_bytes(gzip.compress(VCF))
    seen: list[tuple[int, int | None]] = []
    list(read_alignments(path, progress=lambda done, total: seen.append((done, total))))
    assert seen[-1] == (path.stat().st_size, path.stat().st_size)


@pytest.mark.parametrize("threads", [1, 2])
@pytest.mark.parametrize("damaged", [False, True])
def test_the_end_stays_the_end(tmp_path, threads, damaged):
    path, packed = tmp_path / "x", gzip.compress(VCF[:3000])
    path.write_bytes(packed[:-9] if damaged else packed)
    target = np.zeros(4000, np.uint8)
    with Source(path, workers=Workers(threads)) as source:
        if damaged:
            for _ in range(1 + 2 * (threads > 1)):
                with pytest.raises(InputError, match="truncated"):
                    source.read_into(target)
        else:
            assert [source.read_into(target) for _ in range(4)] == [3000, 0, 0, 0]


@pytest.mark.parametrize("packed", [False, True])
@pytest.mark.parametrize("size", [1, 27, 28, 29, 1000, 2999, 3000, 3001, 9000])
def test_reading_into_an_array(tmp_path, packed, size):
    path, text = tmp_path / "x", VCF[:3000]
    path.write_bytes(gzip.compress(text) if packed else text)
    target, parts = np.zeros(size, np.uint8), []
    with Source(path, chunk_bytes=100) as source:
        while count := source.read_into(target):
            parts.append(target[:count].tobytes())
    assert b"".join(parts) == text
    assert all(len(data) == size for data in parts[:-1])


@pytest.mark.pairwise
@pytest.mark.parametrize("packed", [False, True])
@pytest.mark.parametrize("piece", [7, 1000, 1 << 20])
@pytest.mark.parametrize("size", [100, 1000, 2999, 3000, 3001, 9000])
def test_reading_ahead_into_arrays(tmp_path, monkeypatch, packed, piece, size):
    """Several arrays are being filled at a time, each in pieces."""
    monkeypatch.setattr(stored, "PIECE_BYTES", piece)
    monkeypatch.setattr(stored, "MIN_SHARED_OUT", 2 * piece)
    path, text = tmp_path / "x", VCF[:3000]
    path.write_bytes(gzip.compress(text) if packed else text)
    targets = [np.zeros(size, np.uint8) for _ in range(-(-3000 // size) + 1)]
    with Source(path, chunk_bytes=100) as source, ThreadPoolExecutor(source.readers) as threads:
        parts = [list(reading) for reading in [source.start_reading(target, threads) for target in targets]]
    for part in parts:
        assert all(before[1] == after[0] for before, after in itertools.pairwise(part))
    counts = [part[-1][1] if part else 0 for part in parts]
    assert b"".join(target[:count].tobytes() for target, count in zip(targets, counts, strict=True)) == text
    assert counts[:-1] == [size] * (3000 // size) + [3000 % size] * (len(targets) - 1 - 3000 // size)


def test_progress_counts_what_is_put_back_once(tmp_path):
    """Pieces begin with what was put back, which is counted already."""
    path = tmp_path / "x"
    path.write_bytes(bytes(range(256)) * 40)
    seen: list[int] = []
    with contextlib.closing(StoredBytes(str(path), lambda done, total: seen.append(done))) as stored_bytes:
        stored_bytes.unread(stored_bytes.read(1000))
        target = bytearray(5000)
        for _, _, read in stored_bytes.pieces(memoryview(target)):
            read()
        stored_bytes.report()
        assert stored_bytes.read_into(memoryview(bytearray(10_000))) == 10_240 - 5000
    assert bytes(target) == path.read_bytes()[:5000]
    assert (max(seen), seen[-1]) == (10_240, 10_240)
    assert 5000 in seen


@pytest.mark.parametrize("text", [b"", b"abc", b"\n\n\n", b"ab\ncdefghij\n\nk", b"\nabcdefghijklm"])
def test_the_last_end_of_line_of_a_part(tmp_path, monkeypatch, text):
    monkeypatch.setattr(stored, "MIN_SHARED_OUT", 0)
    monkeypatch.setattr(stored, "FIRST_LOOK", 1)
    path = tmp_path / "x"
    path.write_bytes(text)
    with contextlib.closing(StoredBytes(str(path))) as stored_bytes:
        rest = stored_bytes.rest(0)
        for begin, end in itertools.combinations_with_replacement(range(len(text) + 1), 2):
            assert rest.last(b"\n", begin, end) == text.rfind(b"\n", begin, end)


def test_a_file_that_shrinks(tmp_path, monkeypatch):
    monkeypatch.setattr(stored, "MIN_SHARED_OUT", 1)
    path = tmp_path / "x"
    path.write_bytes(VCF[:9000])
    with Source(path) as source, ThreadPoolExecutor(1) as threads:
        os.truncate(path, 8000)
        parts = source.start_reading(np.zeros(9000, np.uint8), threads)
        with pytest.raises(InputError, match="x: became shorter while it was read"):
            list(parts)
