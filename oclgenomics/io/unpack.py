"""Bzip2, xz and Zstandard: streams, or frames, one after the other, each by the packing library's own decompressor."""

from __future__ import annotations

import bz2
import lzma
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

from oclgenomics.errors import InputError
from oclgenomics.io.packed_file import NEEDS_PACKAGE, zstd_module
from oclgenomics.io.raw_file import StoredBytes

# Sizes that no option changes: what comes before damaged data must not depend on how they are read.
_STORED_BYTES = 1 << 16
_UNPACKED_BYTES = 1 << 18
_XZ_PADDING = 4  # bytes, all zero, or a multiple of so many
_XZ_MEMORY = 2 << 30  # bytes: 1.5 GiB of them is the largest dictionary that xz packs with
_LONGEST_WINDOW = 31  # of zstd, as a power of two: what its option --long asks for at most
_SKIPPABLE = [bytes([0x50 + kind, 0x2A, 0x4D, 0x18]) for kind in range(16)]  # frames of zstd without content


@dataclass(frozen=True)
class _Packing:
    """A way to pack bytes.

    Attributes
    ----------
    name : str
    magics : tuple of bytes
        A stream begins with one of these.
    load : callable
        Returns what makes a decompressor of one stream, and the errors that it raises; called with the input's name.
    padding : int
        Zeros may follow a stream, a multiple of so many; 0 for none.
    """

    name: str
    magics: tuple[bytes, ...]
    load: Callable[[str], tuple[Callable[[], Any], tuple[type[Exception], ...]]]
    padding: int = 0


def _bzip2(_source: str) -> tuple[Callable[[], Any], tuple[type[Exception], ...]]:
    return bz2.BZ2Decompressor, (OSError, ValueError)


def _xz(_source: str) -> tuple[Callable[[], Any], tuple[type[Exception], ...]]:
    return lambda: lzma.LZMADecompressor(lzma.FORMAT_XZ, memlimit=_XZ_MEMORY), (lzma.LZMAError,)


def _zstd(source: str) -> tuple[Callable[[], Any], tuple[type[Exception], ...]]:
    zstd = zstd_module()
    if zstd is None:
        raise InputError(f"packed with zstd, which {NEEDS_PACKAGE}", source=source)
    options = {zstd.DecompressionParameter.window_log_max: _LONGEST_WINDOW}
    return lambda: zstd.ZstdDecompressor(options=options), (zstd.ZstdError,)


_PACKINGS = (
    _Packing("bzip2", (b"BZh",), _bzip2),
    _Packing("xz", (b"\xfd7zXZ\0",), _xz, _XZ_PADDING),
    _Packing("zstd", (b"\x28\xb5\x2f\xfd", *_SKIPPABLE), _zstd),
)


def packing_of(head: bytes) -> str | None:
    """Return the name of the packing that data begin like: "bzip2", "xz" or "zstd"; None for anything else."""
    return next((packing.name for packing in _PACKINGS if head.startswith(packing.magics)), None)


def unpack(stored: StoredBytes, name: str) -> Iterator[bytes]:
    """Unpack all streams of an input.

    Parameters
    ----------
    stored : StoredBytes
        At its first byte.
    name : str
        What `packing_of` returned.

    Raises
    ------
    InputError
        Data that are damaged, or end in the middle, with the byte of the file up to which they were unpacked or which
        the end is; anything behind a stream that is none; or there is no package for it.
    """
    packing = next(packing for packing in _PACKINGS if packing.name == name)
    make, damaged = packing.load(stored.name)
    unpacker: Any = None
    data, at, zeros = b"", 0, 0  # `at` is the place of the first of the data
    while True:
        if unpacker is None:
            data = data or stored.read(_STORED_BYTES)
            left = data.lstrip(b"\0") if packing.padding else data
            zeros, at, padded, data = zeros + len(data) - len(left), at + len(data) - len(left), len(data), left
            if padded and not data:
                continue
            if zeros and zeros % packing.padding:
                message = f"damaged {name} data before this byte; fetch the file again"
                raise InputError(message, source=stored.name, byte=at)
            if not data:
                return
            unpacker, zeros = make(), 0
        elif unpacker.needs_input:
            data = stored.read(_STORED_BYTES)
            if not data:
                message = f"the {name} data ends in the middle (a truncated file?); fetch it again"
                raise InputError(message, source=stored.name, byte=at)
        try:
            chunk = unpacker.decompress(data, _UNPACKED_BYTES)
        except damaged as error:
            message = f"damaged {name} data from about this byte on ({error}); fetch the file again"
            if "memory" in str(error).lower():  # by which the libraries say it, without a number
                message = f"takes more than 2 GiB of memory to unpack; pack it with {name} at a lower level"
            raise InputError(message, source=stored.name, byte=at) from error
        if chunk:
            yield chunk
        rest = unpacker.unused_data if unpacker.eof else b""
        data, at = rest, at + len(data) - len(rest)
        if unpacker.eof:
            unpacker = None
