"""The folder of the cache: whose it may be, and what stands in for it."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from oclgenomics.errors import DeviceError, UsageError
from oclgenomics.runtime import diskcache


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv(diskcache.VARIABLE, str(tmp_path / "cache"))
    return tmp_path / "cache"


def test_only_the_owner_enters_a_new_cache(folder: Path) -> None:
    before = os.umask(0o002)
    try:
        diskcache.store("programs", "one", b"code")
    finally:
        os.umask(before)
    assert folder.stat().st_mode & 0o777 == 0o700
    assert diskcache.load("programs", "one") == b"code"


@pytest.mark.parametrize("mode", [0o775, 0o707, 0o777])
def test_a_cache_that_others_may_write_to_is_not_used(folder: Path, mode: int) -> None:
    diskcache.store("programs", "one", b"code")
    folder.chmod(mode)
    assert diskcache.cache_folder() is None
    assert diskcache.load("programs", "one") is None
    diskcache.store("programs", "two", b"code")
    folder.chmod(0o755)
    assert diskcache.load("programs", "one") == b"code"
    assert diskcache.load("programs", "two") is None


def test_only_the_owner_enters_the_folders_of_a_new_cache(folder: Path) -> None:
    before = os.umask(0o002)
    try:
        diskcache.store("programs", "one", b"code")
        diskcache.keep_text(diskcache.lasting_folder("icd/one") / "a.icd", "/lib/one.so\n")
    finally:
        os.umask(before)
    folders = [path for path in (folder, *folder.rglob("*")) if path.is_dir()]
    assert len(folders) == 4
    assert {path.stat().st_mode & 0o777 for path in folders} == {0o700}


@pytest.mark.parametrize("mode", [0o775, 0o777])
@pytest.mark.parametrize("place", ["icd", "icd/one"])
def test_a_folder_in_the_cache_that_others_may_write_to_is_not_used(folder: Path, place: str, mode: int) -> None:
    diskcache.store("icd", "one", b"code")
    inner = diskcache.lasting_folder("icd/one")
    assert inner == folder / "icd" / "one"
    folder.chmod(0o755)  # as a user may have made it, and named it by the variable
    (folder / place).chmod(mode)
    assert not diskcache.lasting_folder("icd/one").is_relative_to(folder)
    assert (diskcache.load("icd", "one") is None) == (place == "icd")
    assert diskcache.distrusted() == [(folder / place, "others may write to it")]
    assert (folder / place).stat().st_mode & 0o777 == mode  # nobody knows what is in it by now


def test_folders_of_a_closed_cache_are_put_right(folder: Path) -> None:
    diskcache.store("programs", "one", b"code")
    (folder / "programs").chmod(0o775)
    assert diskcache.load("programs", "one") == b"code"
    assert (folder / "programs").stat().st_mode & 0o777 == 0o700
    assert diskcache.distrusted() == []


def test_a_folder_of_another_user_in_the_cache_is_not_used(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    diskcache.store("programs", "one", b"code")
    asked = diskcache.distrust
    monkeypatch.setattr(diskcache, "distrust", lambda path: "foreign" if path == folder / "programs" else asked(path))
    assert diskcache.load("programs", "one") is None
    assert diskcache.distrusted() == [(folder / "programs", "foreign")]


def test_a_cache_of_another_user_is_not_used(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    diskcache.store("programs", "one", b"code")
    monkeypatch.setattr(os, "geteuid", lambda: folder.stat().st_uid + 1)
    assert diskcache.load("programs", "one") is None


def test_unknown_user_in_the_setting(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(diskcache.VARIABLE, "~nobody-of-this-name/x")
    with pytest.raises(UsageError, match="there is no such user"):
        diskcache.cache_folder()


def test_no_home_means_no_cache(monkeypatch: pytest.MonkeyPatch) -> None:
    def expanduser(path: Path) -> Path:
        raise RuntimeError("Could not determine home directory.")

    for name in (diskcache.VARIABLE, "XDG_CACHE_HOME"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setattr(Path, "expanduser", expanduser)
    assert diskcache.cache_folder() is None


def test_texts_are_kept_and_damaged_ones_renewed(folder: Path) -> None:
    file = folder / "icd" / "one.icd"
    diskcache.keep_text(file, "/lib/one.so\n")
    number = file.stat().st_ino
    diskcache.keep_text(file, "/lib/one.so\n")
    assert file.stat().st_ino == number
    file.write_text("/lib/on")
    diskcache.keep_text(file, "/lib/one.so\n")
    assert file.read_text() == "/lib/one.so\n"


def test_a_lasting_folder_without_a_cache_goes_with_the_process(tmp_path: Path) -> None:
    code = "from oclgenomics.runtime.diskcache import lasting_folder; f = lasting_folder('icd/x'); "
    code += "(f / 'file').write_text(''); print(f)"
    for setting in ("off", "/proc/nowhere"):
        environment = {**os.environ, diskcache.VARIABLE: setting, "TMPDIR": str(tmp_path)}
        done = subprocess.run([sys.executable, "-c", code], env=environment, capture_output=True, text=True, check=True)
        assert Path(done.stdout.strip()).is_relative_to(tmp_path)
        assert list(tmp_path.iterdir()) == []


def test_no_place_at_all_is_one_line(monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(folder: Path) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setenv(diskcache.VARIABLE, "off")
    with pytest.raises(DeviceError, match="make room, or set OCLGENOMICS_CACHE or TMPDIR"):
        diskcache.lasting_folder("icd/x", refuse)
