"""The folder where compiled programs and probed traits are kept between runs.

`OCLGENOMICS_CACHE` names another folder, or switches the cache off with `off` or `0`. The default is `oclgenomics` in
`$XDG_CACHE_HOME` or `~/.cache`. Entries are written beside their place and renamed, so readers see whole files or none,
and every read checks a digest, so a damaged entry counts as absent. The least recently used entries go when the folder
outgrows its cap.
"""

from __future__ import annotations

import contextlib
import hashlib
import os
from pathlib import Path

__all__ = ["CAP_BYTES", "VARIABLE", "cache_folder", "clear", "load", "store", "usage", "write_whole"]

VARIABLE = "OCLGENOMICS_CACHE"
CAP_BYTES = 256 << 20
_DIGEST_BYTES = 32


def cache_folder() -> Path | None:
    """Return the cache folder (perhaps not made yet), or None when the cache is switched off."""
    setting = os.environ.get(VARIABLE, "").strip()
    if setting.lower() in ("off", "0", "no", "false"):
        return None
    if setting:
        return Path(setting).expanduser()
    root = os.environ.get("XDG_CACHE_HOME", "").strip() or "~/.cache"
    return Path(root).expanduser() / "oclgenomics"


def write_whole(path: Path, data: bytes) -> None:
    """Write a file so that nobody sees half of it: beside its place first, then renamed."""
    import tempfile  # here, because most runs only read and it is slow to import

    path.parent.mkdir(parents=True, exist_ok=True)
    handle, temporary = tempfile.mkstemp(dir=path.parent, prefix=".new-")
    try:
        with os.fdopen(handle, "wb") as stream:
            stream.write(data)
        os.replace(temporary, path)
    except BaseException:
        with contextlib.suppress(OSError):
            os.unlink(temporary)
        raise


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
    folder = cache_folder()
    return None if folder is None else folder / kind / f"{key}.bin"


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
