"""The folder where compiled programs, probed traits and lists of runtimes are kept between runs.

`OCLGENOMICS_CACHE` names another folder, or switches the cache off with `off` or `0`. The default is `oclgenomics` in
`$XDG_CACHE_HOME` or `~/.cache`. What lies there is run as machine code, so a folder of another user, or one that others
may write to, is not used; that holds for the cache and for each folder in it. All of them are made for their owner
alone, whatever the umask. Readers see complete entries or none, and every read checks a digest, so a damaged entry
counts as absent. The least recently used entries go when the folder outgrows its cap.
"""

from __future__ import annotations

import atexit
import contextlib
import functools
import hashlib
import os
import shutil
import stat
from collections.abc import Callable
from pathlib import Path

from oclgenomics.errors import DeviceError, UsageError
from oclgenomics.io.atomic_file import replace_file
from oclgenomics.lazy_names import late

tempfile = late("tempfile")


VARIABLE = "OCLGENOMICS_CACHE"
CAP_BYTES = 256 << 20
MIN_ROOM = 32 << 20  # bytes on the disk: PoCL keeps some hundred kB of each kernel, and fails where it cannot
OPEN = "others may write to it"
_DIGEST_BYTES = 32


def wanted_folder() -> Path | None:
    """Return the folder that the settings name, used or not, or None when the cache is switched off or has no place.

    Raises
    ------
    UsageError
        `OCLGENOMICS_CACHE` begins with the name of an unknown user.
    """
    setting = os.environ.get(VARIABLE, "").strip()
    if setting.lower() in ("off", "0", "no", "false"):
        return None
    root = setting or os.environ.get("XDG_CACHE_HOME", "").strip() or "~/.cache"
    try:
        folder = Path(root).expanduser()
    except RuntimeError as error:
        if not setting:  # no home at all, as for some users of containers
            return None
        raise UsageError(f"{VARIABLE}={setting}: there is no such user; name another folder, or off") from error
    return folder if setting else folder / "oclgenomics"


def cache_folder() -> Path | None:
    """Return the cache folder, which may not exist yet, or None when it is switched off or not to be trusted.

    Raises
    ------
    UsageError
        From `wanted_folder`.
    """
    folder = wanted_folder()
    return None if folder is None or distrust(folder) else folder


def distrust(folder: Path) -> str:
    """Say why a folder is not fit to hold code that is run: an empty text where it is, or where there is none yet."""
    try:
        status = folder.stat()
    except OSError:
        return ""
    if hasattr(os, "geteuid") and status.st_uid != os.geteuid():
        return "it belongs to another user"
    if os.name == "posix" and status.st_mode & (stat.S_IWGRP | stat.S_IWOTH):
        return OPEN
    return ""


def distrusted() -> list[tuple[Path, str]]:
    """List the folders of the cache that are not used, each with the reason; the cache itself is the first."""
    root = wanted_folder()
    if root is None or not root.is_dir():
        return []
    if reason := distrust(root):
        return [(root, reason)]
    folders = sorted(folder for pattern in ("*/", "*/*/") for folder in root.glob(pattern) if not _safe(root, folder))
    return [(folder, distrust(folder)) for folder in folders if distrust(folder)]


def write_whole(path: Path, data: bytes) -> None:
    """Write a file so that nobody sees an incomplete one."""
    _make(path.parent)
    replace_file(path, data)


def keep_text(path: Path, text: str) -> None:
    """Make a file hold a text; write it only where it does not hold it yet."""
    with contextlib.suppress(OSError):
        if path.read_bytes() == text.encode():
            return
    write_whole(path, text.encode())


def lasting_folder(name: str, fill: Callable[[Path], None] = lambda folder: None) -> Path:
    """Return a folder for other programs to read from and write to.

    Parameters
    ----------
    name : str
        Path in the cache.
    fill : callable
        Puts its content there, verifies it, and replaces it where it is wrong.

    Returns
    -------
    Path
        In the cache, or, where that is off, full, not to be trusted or cannot be written, in a temporary place that is
        gone when the process ends.

    Raises
    ------
    DeviceError
        Neither can be written.
    """
    root = cache_folder()
    if root is not None:
        with contextlib.suppress(OSError):
            folder = root / name
            _make(folder)
            if _safe(root, folder):
                fill(folder)
                if os.access(folder, os.W_OK) and shutil.disk_usage(folder).free >= MIN_ROOM:
                    return folder
    try:
        folder = _temporary_root() / name
        folder.mkdir(parents=True, exist_ok=True)
        fill(folder)
    except OSError as error:
        raise DeviceError(
            f"neither the cache ({root or 'off'}) nor a temporary folder can be written ({error.strerror}), which "
            f"OpenCL needs; make room, or set {VARIABLE} or TMPDIR to a folder that can be written"
        ) from error
    return folder


@functools.cache
def _temporary_root() -> Path:
    folder = tempfile.mkdtemp(prefix="oclgenomics-")
    atexit.register(shutil.rmtree, folder, ignore_errors=True)
    return Path(folder)


def _make(folder: Path) -> None:
    """Make a folder of the cache, with all that are missing above it within the cache; only their owner may enter."""
    root = wanted_folder()
    if root is None or root not in (folder, *folder.parents):
        folder.mkdir(parents=True, exist_ok=True)
        return
    root.parent.mkdir(parents=True, exist_ok=True)
    for level in _levels(root, folder):
        level.mkdir(mode=0o700, exist_ok=True)


def _levels(root: Path, folder: Path) -> list[Path]:
    """The cache, the folder in it, and those between."""
    return [*reversed([above for above in folder.parents if above.is_relative_to(root)]), folder]


def _safe(root: Path, folder: Path) -> bool:
    """Say whether code may be taken from a folder of the cache.

    Where nobody else can enter the cache, folders in it that more may write to cannot have been written to. They are
    put right: earlier versions made them by the umask.
    """
    if distrust(root):
        return False
    with contextlib.suppress(OSError):  # what is not there yet is made for its owner alone
        closed = not root.stat().st_mode & (stat.S_IRWXG | stat.S_IRWXO)
        for level in _levels(root, folder)[1:]:
            if closed and distrust(level) == OPEN:
                level.chmod(0o700)
    return not any(map(distrust, _levels(root, folder)))


def load(kind: str, key: str) -> bytes | None:
    """Return an entry, or None where it is absent, damaged or unreadable.

    Parameters
    ----------
    kind : str
        Sub-folder of the cache: "programs" or "traits".
    key : str
        Digest that names the entry.
    """
    path = _entry(kind, key)
    if path is None:
        return None
    try:
        content = path.read_bytes()
    except OSError:
        return None
    digest, data = content[:_DIGEST_BYTES], content[_DIGEST_BYTES:]
    if hashlib.sha256(data).digest() != digest:
        return None
    with contextlib.suppress(OSError):  # a read-only cache still serves
        os.utime(path)
    return data


def store(kind: str, key: str, data: bytes) -> None:
    """Keep an entry. A cache that cannot be written costs time, never a result, so such trouble is not raised."""
    path = _entry(kind, key)
    if path is None:
        return
    with contextlib.suppress(OSError):
        write_whole(path, hashlib.sha256(data).digest() + data)
        _trim(path.parent.parent)


def usage() -> tuple[int, int]:
    """Return the number of entries and their bytes."""
    sizes = [size for _, size, _ in _entries(cache_folder())]
    return len(sizes), sum(sizes)


def clear() -> int:
    """Remove all entries and return how many there were."""
    entries = _entries(cache_folder())
    for _, _, path in entries:
        with contextlib.suppress(OSError):
            path.unlink()
    return len(entries)


def _entry(kind: str, key: str) -> Path | None:
    root = cache_folder()
    return root / kind / f"{key}.bin" if root is not None and _safe(root, root / kind) else None


def _entries(folder: Path | None) -> list[tuple[float, int, Path]]:
    """List (last use, bytes, path), oldest first."""
    found = []
    for path in folder.glob("*/*.bin") if folder is not None else ():
        with contextlib.suppress(OSError):  # another process may have removed it meanwhile
            status = path.stat()
            found.append((status.st_mtime, status.st_size, path))
    return sorted(found)


def _trim(folder: Path) -> None:
    entries = _entries(folder)
    excess = sum(size for _, size, _ in entries) - CAP_BYTES
    for _, size, path in entries:
        if excess <= 0:
            return
        with contextlib.suppress(OSError):
            path.unlink()
        excess -= size
