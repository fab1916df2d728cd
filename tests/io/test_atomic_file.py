"""Files that are there whole or not at all, with and without files that have no name."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from oclgenomics.errors import OutputError
from oclgenomics.io.atomic_file import whole_file


@pytest.fixture(params=["nameless", "named"], autouse=True)
def kind(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> None:
    if request.param == "named":
        monkeypatch.delattr(os, "O_TMPFILE", raising=False)


def test_a_file_appears_when_it_is_whole(tmp_path: Path) -> None:
    with whole_file(tmp_path / "file") as stream:
        stream.write(b"one ")
        assert not (tmp_path / "file").exists()
        stream.write(memoryview(b"two"))
    assert (tmp_path / "file").read_bytes() == b"one two"
    assert [path.name for path in tmp_path.iterdir()] == ["file"]
    (tmp_path / "usual").write_bytes(b"")
    assert (tmp_path / "file").stat().st_mode == (tmp_path / "usual").stat().st_mode


def test_a_file_is_replaced_and_keeps_its_rights(tmp_path: Path) -> None:
    (tmp_path / "file").write_bytes(b"before")
    (tmp_path / "file").chmod(0o640)
    (tmp_path / "link").symlink_to("file")
    with whole_file(tmp_path / "link") as stream:
        stream.write(b"after")
        assert (tmp_path / "file").read_bytes() == b"before"
    assert (tmp_path / "file").read_bytes() == b"after"
    assert (tmp_path / "file").stat().st_mode & 0o777 == 0o640
    assert (tmp_path / "link").is_symlink()


@pytest.mark.parametrize("error", [KeyboardInterrupt, OSError, ValueError])
def test_what_fails_leaves_nothing(tmp_path: Path, error: type[BaseException]) -> None:
    def fail() -> None:
        with whole_file(tmp_path / "file") as stream:
            stream.write(b"half")
            raise error

    with pytest.raises(error):
        fail()
    assert not list(tmp_path.iterdir())


def test_devices_are_written_in_place() -> None:
    with whole_file("/dev/null") as stream:
        stream.write(b"away")
    told = r"/dev/full: cannot be written \(No space left on device\); a part may have been written$"
    with pytest.raises(OutputError, match=told), whole_file("/dev/full") as stream:
        stream.write(b"away")


def test_places_that_are_none(tmp_path: Path) -> None:
    for path, message in ((tmp_path, "is a folder"), (tmp_path / "no" / "file", "No such file")):
        with pytest.raises(OutputError, match=message), whole_file(path):
            pass
