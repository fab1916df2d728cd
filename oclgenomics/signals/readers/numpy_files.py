"""Signals in NumPy's files: .npz as `write_signals` makes them or with one array a read, and .npy."""

from __future__ import annotations

import os
import warnings
import zipfile
from collections.abc import Iterator
from typing import IO, Any

import numpy as np
from numpy.typing import NDArray

from oclgenomics.errors import InputError
from oclgenomics.signals.currents import as_samples
from oclgenomics.signals.readers.raw_read import RawRead

__all__ = ["OWN_ARRAYS", "read_npy", "read_npz"]

OWN_ARRAYS = {"samples": "i2", "starts": "i8", "names": "U", "scale": "f8", "offset": "f8", "rate": "f8",
              "channel": "i4"}  # fmt: skip
CHEMISTRY = ("pore", "molecule")  # arrays that files of older versions lack
SKIP_BYTES = 1 << 20


def read_npz(path: str, limit: int | None) -> Iterator[RawRead]:
    """Read a .npz file, one read at a time.

    Parameters
    ----------
    path : str
    limit : int or None
        Samples of each read that are asked for, from the first one on.

    Yields
    ------
    RawRead

    Raises
    ------
    InputError
        Arrays of other types or shapes than these files have.
    Exception
        Anything that `zipfile` or NumPy raise of a damaged file.
    """
    with zipfile.ZipFile(path) as archive:
        names = [name.removesuffix(".npy") for name in archive.namelist()]
        if set(OWN_ARRAYS) <= set(names):
            yield from _own_reads(archive, limit, path)
            return
        for number, name in enumerate(names, 1):
            values = _array(archive, name)
            if values.ndim != 1:
                raise InputError(f"the array {name!r} has {values.ndim} dimensions; a read has one", source=path)
            samples, scale = as_samples(values[:limit], name, path)
            yield RawRead(name, samples, scale, share=number / len(names))


def read_npy(path: str, limit: int | None) -> Iterator[RawRead]:
    """Read a .npy file: a read, or one in each row; see `read_npz`."""
    with warnings.catch_warnings(action="ignore"):  # of headers that old versions wrote
        values = np.load(path, mmap_mode="r", allow_pickle=False)
    stem = os.path.basename(path).removesuffix(".npy")
    if values.ndim == 1:
        samples, scale = as_samples(values[:limit], stem, path)
        yield RawRead(stem, samples, scale)
        return
    if values.ndim != 2 or values.shape[1] == 0:
        raise InputError(f"an array of shape {values.shape}; give one read, or a read a row", source=path)
    for number, row in enumerate(values, 1):
        name = f"{stem}.{number}"
        samples, scale = as_samples(row[:limit], name, path)
        yield RawRead(name, samples, scale, share=number / len(values))


def _array(archive: zipfile.ZipFile, name: str) -> NDArray[Any]:
    with archive.open(f"{name}.npy") as member, warnings.catch_warnings(action="ignore"):
        return np.asarray(np.lib.format.read_array(member, allow_pickle=False))


def _own_reads(archive: zipfile.ZipFile, limit: int | None, path: str) -> Iterator[RawRead]:
    """The reads of a file of `write_signals`, whose samples are not all in memory at a time."""
    facts = {name: _fact(archive, name, path) for name in OWN_ARRAYS if name != "samples"}
    starts, reads = facts.pop("starts"), len(facts["names"])
    there = archive.namelist()
    for name in CHEMISTRY:
        facts[name] = _fact(archive, name, path) if f"{name}.npy" in there else np.full(reads, "")
    if any(len(fact) != reads for fact in facts.values()) or len(starts) != reads + 1:
        raise InputError("its arrays do not fit together; the file is damaged", source=path)
    with archive.open("samples.npy") as member:
        size = _begin_samples(member, path)
        if starts[0] != 0 or starts[-1] != size or (np.diff(starts) < 0).any():
            raise InputError("`starts` do not ascend from 0 to the number of samples; the file is damaged", source=path)
        lists = (facts[name].tolist() for name in ("names", "scale", "offset", "rate", "channel", *CHEMISTRY))
        for number, (length, *known) in enumerate(zip(np.diff(starts).tolist(), *lists, strict=True), 1):
            wanted = length if limit is None else min(length, limit)
            samples = np.frombuffer(_exactly(member, 2 * wanted), "<i2").astype(np.int16)
            _skip(member, 2 * (length - wanted))
            name, scale, offset, rate, channel, *chemistry = known
            yield RawRead(name, samples, scale, offset, rate, channel, number / reads, *chemistry)
        _exactly(member, 0)
        if member.read(1):  # which also checks the sum of the last bytes
            raise InputError("more samples than it says; the file is damaged", source=path)


def _fact(archive: zipfile.ZipFile, name: str, path: str) -> NDArray[Any]:
    values, kind = _array(archive, name), OWN_ARRAYS.get(name, "U")
    fits = values.dtype.kind == "U" if kind == "U" else values.dtype == np.dtype(kind)
    if not fits or values.ndim != 1:
        raise InputError(
            f"the array {name!r} is {values.dtype} of shape {values.shape}; the file is damaged", source=path
        )
    return values


def _begin_samples(member: IO[bytes], path: str) -> int:
    """How many samples follow."""
    version = np.lib.format.read_magic(member)
    read = np.lib.format.read_array_header_1_0 if version == (1, 0) else np.lib.format.read_array_header_2_0
    with warnings.catch_warnings(action="ignore"):
        shape, _, kind = read(member)
    if kind != np.dtype("<i2") or len(shape) != 1:
        raise InputError(f"the array 'samples' is {kind} of shape {shape}; the file is damaged", source=path)
    return int(shape[0])


def _exactly(member: IO[bytes], size: int) -> bytes:
    data = member.read(size)
    if len(data) != size:
        raise EOFError("samples are missing")
    return data


def _skip(member: IO[bytes], size: int) -> None:
    for at in range(0, size, SKIP_BYTES):
        _exactly(member, min(SKIP_BYTES, size - at))
