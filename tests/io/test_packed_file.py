"""Outputs that are compressed if their names say so."""

from __future__ import annotations

import contextlib
import gzip
import io
from pathlib import Path

import numpy as np
import pytest

from oclgenomics.errors import MissingDependencyError, OutputError, UsageError
from oclgenomics.io import packed_file, packed_file as zstandard
from oclgenomics.io.packed_file import (
    PACKED_ENDINGS,
    BgzipCompressor,
    check_packer,
    name_unpacked,
    open_packed,
    refuse_packed,
)
from oclgenomics.io.source import Source

MAGICS = {".gz": b"\x1f\x8b", ".bgz": b"\x1f\x8b", ".bz2": b"BZh", ".xz": b"\xfd7zXZ", ".zst": b"\x28\xb5\x2f\xfd"}
TEXT = "".join(f"{number}\té \udc80\n" for number in range(30_000))


def needs(ending: str) -> None:
    if ending == ".zst" and zstandard.zstd_module() is None:
        pytest.skip("no package for zstd")


def unpacked(path: Path) -> bytes:
    with Source(path) as source:
        return b"".join(source)


@pytest.mark.parametrize("ending", [*PACKED_ENDINGS, ".GZ"])
@pytest.mark.parametrize("mode", ["w", "wb"])
def test_names_say_how_outputs_are_packed(ending: str, mode: str, tmp_path: Path) -> None:
    needs(ending)
    path, plain = tmp_path / f"x{ending}", tmp_path / "x"
    data = TEXT.encode("utf-8", "backslashreplace")
    for name in (path, plain):
        with open_packed(name, mode, OutputError) as stream:
            if mode == "w":
                stream.write(TEXT[:10])
                stream.flush()
                stream.write(TEXT[10:])
            else:
                stream.write(data[:10])
                stream.write(memoryview(data)[10:])
    assert plain.read_bytes() == data
    assert path.read_bytes().startswith(MAGICS[ending.lower()])
    assert path.stat().st_size < len(data) / 2
    assert unpacked(path) == data


@pytest.mark.parametrize("ending", PACKED_ENDINGS)
def test_nothing_written_is_an_empty_text(ending: str, tmp_path: Path) -> None:
    needs(ending)
    with open_packed(tmp_path / f"x{ending}", "w", OutputError):
        pass
    assert (tmp_path / f"x{ending}").stat().st_size > 0
    assert unpacked(tmp_path / f"x{ending}") == b""


@pytest.mark.parametrize("ending", PACKED_ENDINGS)
@pytest.mark.filterwarnings("error")
def test_a_packed_file_is_whole_or_absent(ending: str, tmp_path: Path) -> None:
    needs(ending)
    path = tmp_path / f"x{ending}"
    with contextlib.suppress(KeyError), open_packed(path, "w", OutputError) as stream:
        stream.write("begun")
        raise KeyError
    stream.flush()  # its text that waits is not written to what is closed
    del stream
    assert list(tmp_path.iterdir()) == []
    with pytest.raises(OutputError), open_packed(tmp_path / "no" / f"x{ending}", "w", OutputError):
        pass


def test_text_that_waits_is_written_in_the_end(tmp_path: Path) -> None:
    with open_packed(tmp_path / "x.gz", "w", OutputError) as stream:
        stream.write("a few letters")
    assert unpacked(tmp_path / "x.gz") == b"a few letters"


def test_standard_output_is_plain(capfdbinary: pytest.CaptureFixture[bytes]) -> None:
    with open_packed("-", "wb", OutputError) as stream:
        stream.write(b"text\n")
    assert capfdbinary.readouterr().out == b"text\n"


def test_zstd_without_its_package(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(packed_file, "zstd_module", lambda: None)
    with pytest.raises(MissingDependencyError, match=r"pip install 'oclgenomics\[zstd\]'"):
        check_packer("x.ZST")
    with pytest.raises(MissingDependencyError), open_packed(tmp_path / "x.zst", "w", OutputError):
        pass
    assert list(tmp_path.iterdir()) == []
    check_packer("x.gz")


def test_names_without_their_packing() -> None:
    assert [name_unpacked(name) for name in ("a.tsv.gz", "a.XZ", "a.tsv", "gz", "a.gz/b")] == [
        "a.tsv", "a", "a.tsv", "gz", "a.gz/b",
    ]  # fmt: skip
    refuse_packed("x.npz", "npz")
    with pytest.raises(UsageError, match=r"x\.npz\.gz: only text is packed, and npz is none; leave out \.gz"):
        refuse_packed("x.npz.gz", "npz")


@pytest.mark.parametrize("size", [0, 1, 0xFF00, 0xFF00 + 1, 1_000_000])
@pytest.mark.parametrize("kind", ["text", "noise"])
def test_blocked_gzip(size: int, kind: str) -> None:
    data = b"01" * (size // 2) + b"0" * (size % 2) if kind == "text" else np.random.default_rng(1).bytes(size)
    out, compressor = io.BytesIO(), BgzipCompressor(4)
    for start in range(0, size, 70_001):
        out.write(compressor.compress(data[start : start + 70_001]))
    out.write(compressor.flush())
    whole = out.getvalue()
    assert gzip.decompress(whole) == data
    at = blocks = 0
    while at < len(whole):  # every member says how long it is, which is what an index relies on
        assert whole[at : at + 4] == b"\x1f\x8b\x08\x04"
        assert whole[at + 12 : at + 16] == b"BC\x02\x00"
        at += int.from_bytes(whole[at + 16 : at + 18], "little") + 1
        blocks += 1
    assert at == len(whole)
    assert blocks == -(-size // 0xFF00) + 1
