"""Signals in NumPy's files: .npz as `write_signals` makes them or with one array a read, and .npy.

A packed array of zeros is a thousand times as large as its file. So arrays are read in blocks, whatever their headers
say: what is in memory is a block, and of one read the samples that are asked for, at most `MAX_READ_SAMPLES`."""

from __future__ import annotations

import os
import struct
import warnings
import zipfile
from collections.abc import Iterator
from contextlib import ExitStack
from typing import IO, Any

import numpy as np
from numpy.typing import NDArray

from oclgenomics.errors import InputError, OutputError
from oclgenomics.io.atomic_file import open_whole
from oclgenomics.signals.file_part import FilePart, numbers_of
from oclgenomics.signals.model import Signals
from oclgenomics.signals.readers.raw_read import MAX_READ_SAMPLES, RawRead

CURRENT_SCALE = 1 / 32  # pA; int16 then holds -1,024 to 1,024 pA, and noise of a pore is some pA
_LOWEST, _HIGHEST = np.iinfo(np.int16).min, np.iinfo(np.int16).max
OWN_ARRAYS = {"samples": "i2", "starts": "i8", "names": "U", "scale": "f8", "offset": "f8", "rate": "f8",
              "channel": "i4"}  # fmt: skip
FACTS = ("names", "scale", "offset", "rate", "channel")
CHEMISTRY = ("pore", "molecule")  # arrays that are left out where nothing is known of them
BLOCK_BYTES = 1 << 20
BLOCK_READS = 4096
MAX_NAME = 1 << 12  # characters
SIZES_AT = 26  # of a member's head in the archive: bytes of its name and of its extra field, behind which its data are
_NOT_ASCENDING = "`starts` do not ascend from 0 to the number of samples; the file is damaged"


def write_signals(path: str | os.PathLike[str], signals: Signals) -> None:
    """Write a .npz file, whole or not at all; equal signals give equal bytes.

    Its arrays are those of `Signals`, not packed, with texts of fixed width; `pore` and `molecule` are left out where
    nothing is known of them. `numpy.load` reads it, as does `read_signals`.

    Parameters
    ----------
    path : path
        Its name is taken as it is.
    signals : Signals

    Raises
    ------
    OutputError
        The file cannot be written; nothing half written is left.
    ValueError
        A name is empty or ends with a NUL, which text of fixed width does not hold.
    """
    if any(not name or name.endswith("\0") for name in signals.names):
        raise ValueError("names are not empty and do not end with a NUL")
    names = signals.names.astype(np.str_) if len(signals) else np.empty(0, "<U1")
    order = ("starts", "scale", "offset", "rate", "channel", "samples")
    arrays: dict[str, NDArray[Any]] = {"names": names, **{name: getattr(signals, name) for name in order}}
    for name, texts in (("pore", signals.pore), ("molecule", signals.molecule)):
        if texts.any():
            arrays[name] = texts.astype(np.str_)
    with open_whole(path, "wb", OutputError) as stream, zipfile.ZipFile(stream, "w") as archive:
        for name, values in arrays.items():
            # The date of such a member is fixed, so that equal signals give equal bytes.
            with archive.open(zipfile.ZipInfo(f"{name}.npy"), "w", force_zip64=True) as member:
                stored = np.ascontiguousarray(values, values.dtype.newbyteorder("<"))
                np.lib.format.write_array(member, stored, version=(1, 0), allow_pickle=False)


def read_npz(path: str, limit: int | None, part: FilePart | None = None) -> Iterator[RawRead]:
    """Read a .npz file, one read at a time.

    Parameters
    ----------
    path : str
    limit : int or None
        Samples of each read that are asked for, from the first one on.
    part : FilePart, optional
        Which reads are asked for; all if not given.

    Yields
    ------
    RawRead

    Raises
    ------
    InputError
        Arrays of other types or shapes than these files have, or a read of more than `MAX_READ_SAMPLES`.
    Exception
        Anything that `zipfile` or NumPy raise of a damaged file.
    """
    with zipfile.ZipFile(path) as archive:
        names = [name.removesuffix(".npy") for name in archive.namelist()]
        if set(OWN_ARRAYS) <= set(names):
            yield from _own_reads(archive, limit, path, part)
            return
        for number in numbers_of(part, len(names)):
            name = names[number]
            with _ArrayMember(archive, name) as array:
                if len(array.shape) != 1:
                    raise InputError(
                        f"the array {name!r} has {len(array.shape)} dimensions; a read has one", source=path
                    )
                samples, scale = _samples(array, limit, name, path)
                array.end(path)
            yield RawRead(name, samples, scale, share=(number + 1) / len(names))


def read_npy(path: str, limit: int | None, part: FilePart | None = None) -> Iterator[RawRead]:
    """Read a .npy file: a read, or one in each row; see `read_npz`."""
    with warnings.catch_warnings(action="ignore"):  # of headers that old versions wrote
        values = np.load(path, mmap_mode="r", allow_pickle=False)
    stem = os.path.basename(path).removesuffix(".npy")
    if values.ndim == 1:
        _check_length(len(values), limit, stem, path)
        if numbers_of(part, 1):
            samples, scale = as_samples(values[:limit], stem, path)
            yield RawRead(stem, samples, scale)
        return
    if values.ndim != 2 or values.shape[1] == 0:
        raise InputError(f"an array of shape {values.shape}; give one read, or a read a row", source=path)
    _check_length(values.shape[1], limit, stem, path)
    for number in numbers_of(part, len(values)):
        name = f"{stem}.{number + 1}"
        samples, scale = as_samples(values[number, :limit], name, path)
        yield RawRead(name, samples, scale, share=(number + 1) / len(values))


def as_samples(values: NDArray[Any], name: str, source: str) -> tuple[NDArray[np.int16], float]:
    """Return samples and their scale.

    Parameters
    ----------
    values : ndarray, (samples,)
        Integers are samples of the converter; floating-point numbers are currents in pA, and are rounded to 1/32 pA.
    name, source : str
        Of the read and of its file, for messages.

    Returns
    -------
    samples : ndarray, int16
    scale : float
        1 for integers, 1/32 for currents.

    Raises
    ------
    InputError
        Values of another type, that are no numbers, or that 16 bits do not hold.
    """
    kind = values.dtype.kind
    if kind not in "iuf":
        raise InputError(f"read {name!r} is of type {values.dtype}; give integers, or currents in pA", source=source)
    if kind != "f":
        if values.size and values.dtype != np.int16:
            _check_range(int(values.min()), int(values.max()), "samples", name, source)
        return values.astype(np.int16), 1.0
    if not np.isfinite(values).all():
        raise InputError(f"read {name!r} has currents that are no finite numbers", source=source)
    with np.errstate(over="ignore"):
        units = np.rint(values.astype(np.float64) / CURRENT_SCALE)
    if values.size:
        _check_range(units.min(), units.max(), "currents", name, source)
    return units.astype(np.int16), CURRENT_SCALE


def _check_range(lowest: float, highest: float, what: str, name: str, source: str) -> None:
    if lowest < _LOWEST or highest > _HIGHEST:
        scale = CURRENT_SCALE if what == "currents" else 1
        ends = f"{_LOWEST * scale:,g} to {_HIGHEST * scale:,g}"
        raise InputError(f"read {name!r} has {what} beyond {ends}", source=source)


class _ArrayMember:
    """An array of a .npz file, read from its first element on; a context manager.

    Attributes
    ----------
    shape : tuple of int
        As its header says; nothing of it is allocated.
    dtype : dtype
    """

    def __init__(self, archive: zipfile.ZipFile, name: str) -> None:
        self._archive, self._info = archive, archive.getinfo(f"{name}.npy")
        self._member: IO[bytes] = archive.open(self._info)
        try:
            self.shape, self.dtype = self._header()
            if self.dtype.hasobject or not self.dtype.itemsize:
                raise ValueError(f"the array {name!r} is of type {self.dtype}")
        except BaseException:
            self._member.close()
            raise
        self._left = self.shape[0] if len(self.shape) == 1 else 0

    def _header(self) -> tuple[tuple[int, ...], np.dtype[Any]]:
        with warnings.catch_warnings(action="ignore"):  # of headers that old versions wrote
            version = np.lib.format.read_magic(self._member)
            read = np.lib.format.read_array_header_1_0 if version == (1, 0) else np.lib.format.read_array_header_2_0
            shape, _, dtype = read(self._member)
        return shape, dtype

    def __enter__(self) -> _ArrayMember:
        return self

    def __exit__(self, *_error: object) -> None:
        self._member.close()

    def take(self, count: int) -> NDArray[Any]:
        """Return the next elements of an array of one dimension: as many as that, or as there are."""
        count = min(count, self._left)
        data = b"".join(self._blocks(count * self.dtype.itemsize))
        self._left -= count
        return np.frombuffer(data, self.dtype)

    def skip(self, count: int) -> None:
        """Leave out so many elements."""
        for _ in self._blocks(count * self.dtype.itemsize):
            pass
        self._left -= count

    def jump(self, count: int) -> None:
        """Leave out so many elements, once, unread if they are not packed: nobody then checks the sum of the bytes."""
        size, place = self.dtype.itemsize, self._member.tell()
        there = place + self._left * size <= self._info.file_size
        if self._info.compress_type != zipfile.ZIP_STORED or self._archive.filename is None or not there:
            self.skip(count)
            return
        self._member.close()
        self._member = open(self._archive.filename, "rb")  # noqa: SIM115 (closed with this)
        self._member.seek(self._info.header_offset + SIZES_AT)
        head = sum(struct.unpack("<HH", self._member.read(4)))
        self._member.seek(head + place + count * size, os.SEEK_CUR)
        self._left -= count

    def end(self, path: str) -> None:
        """Leave out all that follows, and see that it is what the header says, which also checks the sum of the bytes.

        Raises
        ------
        InputError
            There is more.
        """
        self.skip(self._left)
        if self._member.read(1):
            raise InputError("more samples than it says; the file is damaged", source=path)

    def _blocks(self, size: int) -> Iterator[bytes]:
        for at in range(0, size, BLOCK_BYTES):
            wanted = min(BLOCK_BYTES, size - at)
            data = self._member.read(wanted)
            if len(data) != wanted:
                raise EOFError("samples are missing")
            yield data


def _samples(array: _ArrayMember, limit: int | None, name: str, path: str) -> tuple[NDArray[np.int16], float]:
    """The samples of a read that are asked for, and their scale."""
    length = array.shape[0]
    _check_length(length, limit, name, path)
    wanted = length if limit is None else min(length, limit)
    step = max(1, BLOCK_BYTES // array.dtype.itemsize)
    parts = [as_samples(array.take(min(step, wanted - at)), name, path) for at in range(0, max(wanted, 1), step)]
    return np.concatenate([samples for samples, _ in parts]), parts[0][1]


def _check_length(length: int, limit: int | None, name: str, path: str) -> None:
    """Refuse a read that would fill memory."""
    if length > MAX_READ_SAMPLES and (limit is None or limit > MAX_READ_SAMPLES):
        raise InputError(
            f"read {name!r} has {length:,} samples; at most {MAX_READ_SAMPLES:,} of a read are taken", source=path
        )


def _own_reads(archive: zipfile.ZipFile, limit: int | None, path: str, part: FilePart | None) -> Iterator[RawRead]:
    """The reads of a file of `write_signals`."""
    with ExitStack() as stack:
        arrays = {name: stack.enter_context(_ArrayMember(archive, name)) for name in OWN_ARRAYS}
        there = [name for name in CHEMISTRY if f"{name}.npy" in archive.namelist()]
        arrays |= {name: stack.enter_context(_ArrayMember(archive, name)) for name in there}
        for name, array in arrays.items():
            _check_own(array, name, path)
        samples, starts = arrays.pop("samples"), arrays.pop("starts")
        reads = arrays["names"].shape[0]
        if any(array.shape[0] != reads for array in arrays.values()) or starts.shape[0] != reads + 1:
            raise InputError("its arrays do not fit together; the file is damaged", source=path)
        asked = numbers_of(part, reads)
        leave_out, unwanted = samples.skip if asked.stop == reads else samples.jump, 0
        begin = int(starts.take(1)[0])
        ascending = begin == 0
        for first in range(0, reads, BLOCK_READS):
            ends = starts.take(BLOCK_READS).tolist()
            lists = (arrays[name].take(BLOCK_READS).tolist() for name in (*FACTS, *there))
            for number, (end, *known) in enumerate(zip(ends, *lists, strict=True), first):
                if number >= asked.stop:
                    return  # who reads the rest sees to the end of the file
                length, begin = end - begin, end
                if not ascending or length < 0 or end > samples.shape[0]:
                    raise InputError(_NOT_ASCENDING, source=path)
                name, scale, offset, rate, channel, *chemistry = known
                if number < asked.start:
                    unwanted += length
                    continue
                if unwanted:
                    leave_out(unwanted)
                    unwanted = 0
                _check_length(length, limit, name, path)
                wanted = length if limit is None else min(length, limit)
                taken = samples.take(wanted).astype(np.int16)
                samples.skip(length - wanted)
                of = dict(zip(there, chemistry, strict=True))
                yield RawRead(name, taken, scale, offset, rate, channel, (number + 1) / reads, **of)
        if not ascending or begin != samples.shape[0]:
            raise InputError(_NOT_ASCENDING, source=path)
        for array in (samples, starts, *arrays.values()):
            array.end(path)


def _check_own(array: _ArrayMember, name: str, path: str) -> None:
    """Refuse an array that `write_signals` does not write."""
    kind = OWN_ARRAYS.get(name, "U")
    fits = array.dtype.kind == "U" if kind == "U" else array.dtype == np.dtype(f"<{kind}")
    if not fits or len(array.shape) != 1 or (kind == "U" and array.dtype.itemsize > 4 * MAX_NAME):
        raise InputError(
            f"the array {name!r} is {array.dtype} of shape {array.shape}; the file is damaged", source=path
        )
