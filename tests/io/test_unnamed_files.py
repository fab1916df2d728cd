"""Files without a name, where the file system has them and where it has not."""

from __future__ import annotations

import os
import tempfile
from pathlib import Path

import pytest

from oclgenomics.errors import OutputError
from oclgenomics.io.atomic_file import file_system, temporary_folder, unnamed_file


@pytest.mark.parametrize("kind", ["nameless", "unlinked"])
def test_a_file_is_listed_nowhere(kind: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    if kind == "unlinked":
        monkeypatch.delattr(os, "O_TMPFILE", raising=False)
    handle = unnamed_file(str(tmp_path))
    assert not list(tmp_path.iterdir())
    os.write(handle, b"data")
    assert os.pread(handle, 10, 0) == b"data"
    os.close(handle)


def test_the_system_s_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TMPDIR", str(tmp_path))
    monkeypatch.setattr(tempfile, "tempdir", None)
    assert temporary_folder() == str(tmp_path)
    assert temporary_folder(tmp_path / "..") == str(tmp_path / "..")

    def none() -> str:
        raise FileNotFoundError("none")

    monkeypatch.setattr(tempfile, "gettempdir", none)
    with pytest.raises(OutputError, match="no folder for temporary files; name one with tmp_dir"):
        temporary_folder()


def test_folders_that_do_not_do(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "file").write_bytes(b"")
    with pytest.raises(OutputError, match=r"missing: there is no such folder; make it first"):
        temporary_folder(tmp_path / "missing")
    with pytest.raises(OutputError, match="file: is no folder"):
        temporary_folder(tmp_path / "file")
    monkeypatch.setattr(os, "access", lambda *_: False)
    with pytest.raises(OutputError, match="is not writable"):
        temporary_folder(tmp_path)


def test_the_file_system_of_a_folder(tmp_path: Path) -> None:
    assert file_system("/") == "/"
    assert os.stat(file_system(str(tmp_path))).st_dev == os.stat(tmp_path).st_dev
