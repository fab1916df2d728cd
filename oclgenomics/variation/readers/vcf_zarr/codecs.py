"""The codecs that arrays of a Zarr group may have, by name, before zarr is asked to open one.

Metadata of a store name the codecs that unpack its chunks, and zarr looks them up among all that numcodecs and other
packages offer. One of these, `pickle`, runs code that the chunks bring along. So arrays are opened only if each codec
is known to make numbers or text of bytes and nothing else.
"""

from __future__ import annotations

import json
import os
import zipfile
from collections.abc import Iterable, Iterator
from typing import IO, Any

from oclgenomics.errors import InputError, reason_of

MAX_METADATA_BYTES = 1 << 24
PACKERS = ("blosc", "bz2", "gzip", "lz4", "lzma", "zlib", "zstd")
CHECKSUMS = ("adler32", "crc32", "crc32c", "fletcher32", "jenkins_lookup3")
FILTERS = ("astype", "bitround", "delta", "fixedscaleoffset", "packbits", "quantize", "shuffle")
TEXTS = ("vlen-utf8", "vlen-bytes")
LAYOUTS = ("bytes", "sharding_indexed", "transpose")  # of version 3
ALLOWED = frozenset((*PACKERS, *CHECKSUMS, *FILTERS, *TEXTS, *LAYOUTS))


def check_codecs(path: str, array: str, packed: zipfile.ZipFile | None = None) -> None:
    """Refuse an array whose metadata, in any version of the format, name a codec that is not allowed.

    Parameters
    ----------
    path : str
        Folder of the Zarr group, or zip file of it.
    array : str
        Its name; an array that is not there has no codecs.
    packed : ZipFile, optional
        The zip file, whose list of members may be long and is read once.

    Raises
    ------
    InputError
        There is another codec, or the metadata cannot be read.
    """
    for name in (f"{array}/.zarray", f"{array}/zarr.json"):  # versions 2 and 3
        text = _member(path, name, packed)
        if text is None:
            continue
        try:
            named = list(_named(json.loads(text)))
        except (ValueError, TypeError, AttributeError, KeyError, RecursionError) as error:
            raise InputError(f"the metadata {name} are damaged", source=path) from error
        for codec in named:
            if codec not in ALLOWED:
                raise InputError(
                    f"the array {array} is packed with {codec[:40]!r}, which is not read, since it may run code; pack "
                    "it anew with blosc or zstd, and text with vlen-utf8",
                    source=path,
                )


def _named(metadata: dict[str, Any]) -> Iterator[str]:
    """Names of the codecs of an array, under all keys at which either version has some."""
    for codec in (*(metadata.get("filters") or ()), metadata.get("compressor")):
        if codec is not None:
            yield str(codec["id"])
    yield from _chain(metadata.get("codecs") or ())


def _chain(codecs: Iterable[Any]) -> Iterator[str]:
    """Names of a chain of codecs, and of the chains within a shard."""
    for codec in codecs:
        if isinstance(codec, str):
            yield codec
            continue
        yield str(codec["name"]).removeprefix("numcodecs.")
        inner = codec.get("configuration") or {}
        yield from _chain((*(inner.get("codecs") or ()), *(inner.get("index_codecs") or ())))


def _member(path: str, name: str, packed: zipfile.ZipFile | None) -> bytes | None:
    """A file of the store; None where there is none.

    Raises
    ------
    InputError
        It cannot be read, or is too large.
    """
    try:
        if packed is not None:
            with packed.open(name) as member:
                return _whole(member, packed.getinfo(name).file_size)
        with open(os.path.join(path, name), "rb") as file:
            return _whole(file, os.fstat(file.fileno()).st_size)
    except (FileNotFoundError, NotADirectoryError, KeyError):
        return None
    except Exception as error:  # besides OSError: what zipfile and zlib raise for damaged archives
        raise InputError(f"the metadata {name} cannot be read ({reason_of(error)})", source=path) from error


def _whole(file: IO[bytes], size: int) -> bytes:
    if size > MAX_METADATA_BYTES:
        raise ValueError(f"{size:,} bytes, more than {MAX_METADATA_BYTES:,}")
    return file.read()
