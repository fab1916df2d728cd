"""Bzip2, xz and zstd in all their shapes, and marks at the start of a text."""

from __future__ import annotations

import bz2
import gzip
import importlib
import io
import lzma
import os
import sys
import threading
import zlib

import numpy as np
import pytest

from oclgenomics.errors import InputError
from oclgenomics.io.source import Source
from oclgenomics.io.workers import Workers
from oclgenomics.variation import ReadOptions, read_alignments

TEXT = b"".join(b"@r%d\nACGT\n+\nIIII\n" % i for i in range(20_000))
NOISE = np.random.default_rng(3).integers(0, 256, (1 << 18) + 7, np.uint8).tobytes()  # takes many pieces as stored, too
SIZES = (1, 2, 3, 65_535, 65_536, 65_537, 1 << 18, (1 << 18) + 1)


def pack_zstd(data: bytes) -> bytes:
    pytest.importorskip("compression.zstd" if sys.version_info >= (3, 14) else "backports.zstd")
    zstd = importlib.import_module("compression.zstd" if sys.version_info >= (3, 14) else "backports.zstd")
    packed: bytes = zstd.compress(data, options={zstd.CompressionParameter.checksum_flag: 1})
    return packed


PACKERS = {"bzip2": bz2.compress, "xz": lzma.compress, "zstd": pack_zstd}
SKIPPABLE = b"\x5e\x2a\x4d\x18\x03\0\0\0abc"  # a frame of zstd without content


def content(path, **options):
    with Source(path, **options) as source:
        return b"".join(source)


def written(tmp_path, data):
    path = tmp_path / "x"
    path.write_bytes(data)
    return path


@pytest.mark.parametrize("name", PACKERS)
def test_one_and_many_streams(tmp_path, name):
    pack = PACKERS[name]
    with Workers(1) as one, Workers(2) as two:
        for data in (TEXT, NOISE, *(NOISE[:size] for size in SIZES)):
            halves = [data[: len(data) // 2], b"", data[len(data) // 2 :]]
            for packed in (pack(data), b"".join(map(pack, halves))):
                path = written(tmp_path, packed)
                assert all(content(path, workers=workers) == data for workers in (one, two))


def test_padding_of_xz_and_frames_of_zstd_without_content(tmp_path):
    for zeros in (4, 8, 1 << 17):
        packed = lzma.compress(b"one") + bytes(zeros) + lzma.compress(b"two") + bytes(zeros)
        assert content(written(tmp_path, packed)) == b"onetwo"
    with pytest.raises(InputError, match="damaged xz data") as caught:
        content(written(tmp_path, lzma.compress(b"one") + bytes(3)))
    assert caught.value.byte == len(lzma.compress(b"one")) + 3
    packed = SKIPPABLE + pack_zstd(b"one") + SKIPPABLE + pack_zstd(b"two") + SKIPPABLE
    assert content(written(tmp_path, packed)) == b"onetwo"


@pytest.mark.parametrize("name", PACKERS)
def test_cut_off(tmp_path, name):
    packed = PACKERS[name](NOISE[:200_000])
    for size in (20, 1000, 1 << 16, (1 << 16) + 1, len(packed) - 1, len(packed) + 20):
        with pytest.raises(InputError, match=f"the {name} data ends in the middle") as caught:
            content(written(tmp_path, (packed + packed)[:size]))
        assert caught.value.byte == size


@pytest.mark.parametrize("name", PACKERS)
def test_damaged(tmp_path, name):
    packed = PACKERS[name](NOISE)
    for at in (len(packed) // 2, len(packed) - 5):
        damaged = bytearray(packed)
        damaged[at] ^= 0x55
        with pytest.raises(InputError, match=f"damaged {name} data|ends in the middle") as caught:
            content(written(tmp_path, damaged))
        assert 0 <= caught.value.byte <= len(packed)
    for garbage in (b"more text that begins no stream", bytes(3) + b"x" * 20):
        with pytest.raises(InputError, match=f"damaged {name} data") as caught:
            content(written(tmp_path, packed + garbage))
        assert len(packed) <= caught.value.byte <= len(packed) + 3


def test_xz_that_asks_for_much_memory(tmp_path):
    """The dictionary may be up to 4 GiB, whatever the file's size."""
    head = bytearray(lzma.compress(b"text", check=lzma.CHECK_CRC32))
    assert head[14:17] == b"\x21\x01\x16"  # LZMA2, and the size of its dictionary
    head[16] = 40
    head[20:24] = zlib.crc32(head[12:20]).to_bytes(4, "little")
    with pytest.raises(InputError, match="takes more than 2 GiB of memory to unpack; pack it with xz at a lower level"):
        content(written(tmp_path, bytes(head)))


@pytest.mark.parametrize("name", PACKERS)
def test_through_a_pipe_as_the_data_come(name):
    source, target = os.pipe()
    parts = [PACKERS[name](b"first\n"), PACKERS[name](b"second\n")]
    asked = threading.Event()
    in_time = []

    def write():
        with os.fdopen(target, "wb", buffering=0) as pipe:
            pipe.write(parts[0])
            in_time.append(asked.wait(20))
            pipe.write(parts[1])

    writer = threading.Thread(target=write, daemon=True)
    writer.start()
    room = np.zeros(100, np.uint8)
    with Source(f"/dev/fd/{source}", live=True) as opened:
        count = opened.read_some_into(room)
        assert room[:count].tobytes() == b"first\n"
        asked.set()
        assert opened.read_into(room) == len(b"second\n")
    writer.join()
    assert in_time == [True]
    os.close(source)


@pytest.mark.parametrize("name", PACKERS)
def test_progress_is_that_of_the_stored_bytes(tmp_path, name):
    path = written(tmp_path, PACKERS[name](NOISE))
    told = []
    assert content(path, progress=lambda done, total: told.append((done, total))) == NOISE
    assert told[-1] == (path.stat().st_size,) * 2
    assert [done for done, _ in told] == sorted(done for done, _ in told)
    assert len(set(told)) > 3


def test_zstd_without_its_package(tmp_path, monkeypatch):
    path = written(tmp_path, pack_zstd(b"text"))
    for name in ("backports.zstd", "compression.zstd"):
        monkeypatch.setitem(sys.modules, name, None)
    with pytest.raises(InputError, match=r"pip install 'oclgenomics\[zstd\]'") as caught:
        content(path)
    assert caught.value.source == str(path)


@pytest.mark.parametrize("pack", [bytes, gzip.compress, bz2.compress, lzma.compress])
def test_marks_at_the_start_of_a_text(tmp_path, monkeypatch, pack):
    for text in (b"x", b"text\n", TEXT):
        path = written(tmp_path, pack(b"\xef\xbb\xbf" + text))
        with Source(path) as source:
            assert b"".join(source) == text
            assert source.skipped == 3
        room = np.zeros(len(text) + 1, np.uint8)
        with Source(path) as source:
            assert source.read_into(room) == len(text)
        monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(path.read_bytes())))
        assert content("-") == text
    for data in ("text\n".encode("utf-16"), b"\xfe\xff\0t"):
        with pytest.raises(InputError, match="is text in UTF-16"):
            content(written(tmp_path, pack(data)))
    for data in (b"\xef\xbb", b"text \xef\xbb\xbf"):
        assert content(written(tmp_path, pack(data))) == data


@pytest.mark.parametrize("name", PACKERS)
def test_alignments_are_read(tmp_path, name):
    text = b"\xef\xbb\xbfms 2 1\n1 2 3\n\n//\nsegsites: 3\npositions: 0.1 0.2 0.3\n010\n111\n"
    (alignment,) = read_alignments(written(tmp_path, PACKERS[name](text)), ReadOptions(length=100))
    assert (alignment.sites, alignment.haplotypes) == (3, 2)
