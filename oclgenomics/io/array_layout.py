"""What lies where in a file of arrays; docs/signatures-format.md tells one byte by byte.

A head, the description, which is JSON and ends with spaces, the sections, which end with zeros, and a foot. Sections
begin at multiples of 64 bytes, numbers are little-endian, and each byte is under a checksum. That of a section is
made of those of its blocks, which can be made side by side; in older versions it is that of all its bytes. Kinds of
files of which little is read at a time hold the checksums of all blocks in a section of their own, the last one.
"""

from __future__ import annotations

import json
import math
import struct
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Any, NamedTuple

import numpy as np

from oclgenomics.io.siphash import BLOCK_BYTES, Checksum as Checksum, siphash

KEY = b"oclgenomics.file"  # of all checksums
END = b"arrayend"
ALIGNMENT = 64
BLOCK_SUMS = "block_sums"  # the section of the checksums of blocks
HEAD = struct.Struct("<8sII")  # mark, version, bytes of the description
FOOT = struct.Struct("<Q8s")  # checksum of head and description, end mark
TYPES = ("|u1", "|i1", "<u2", "<i2", "<u4", "<i4", "<u8", "<i8", "<f4", "<f8")
MAX_DIMENSIONS = 8
MAX_ITEMS = (1 << 60) - 1
PIECE_BYTES = 4 << 20  # read or written at a time, while checksums of others are made; whole blocks


@dataclass(frozen=True)
class FileKind:
    """A kind of file.

    Attributes
    ----------
    mark : bytes
        Its first 8 bytes, which tell it from all other files and do not survive being taken for text.
    version : int
        Of what its arrays are and mean. It is what is written.
    name : str
        For messages: "panel of signatures".
    remedy : str
        What to do about a file that is damaged: "make it again with ...".
    older : tuple of int
        Versions that are read as well; no others are.
    blocks_since : int
        The first version in which the checksum of a section is that of the checksums of its blocks.
    sums_since : int, optional
        The first version with the checksums of the blocks of all other sections, in their order, in a last one.
    """

    mark: bytes
    version: int
    name: str
    remedy: str
    older: tuple[int, ...] = ()
    blocks_since: int = 0
    sums_since: int | None = None

    @property
    def holds_sums(self) -> bool:
        """Whether files of this version hold the checksums of their blocks."""
        return self.sums_since is not None and self.version >= self.sums_since


@dataclass(frozen=True)
class Section:
    """Where an array lies in a file.

    Attributes
    ----------
    name : str
    dtype : str
        One of TYPES.
    shape : tuple of int
    offset : int
        Bytes from the end of the description.
    checksum : str
        16 hexadecimal digits, of the section with the zeros that fill it up: of all of it, or of what its blocks have.
    """

    name: str
    dtype: str
    shape: tuple[int, ...]
    offset: int
    checksum: str

    @property
    def bytes(self) -> int:
        """Bytes of the array."""
        return math.prod(self.shape) * np.dtype(self.dtype).itemsize

    @property
    def filled_bytes(self) -> int:
        """Bytes of the section, which the zeros make a multiple of 64."""
        return -(-self.bytes // ALIGNMENT) * ALIGNMENT

    @property
    def blocks(self) -> int:
        """Blocks of the section, the last of which may be shorter."""
        return -(-self.bytes // BLOCK_BYTES)

    @classmethod
    def of(cls, entry: object, number: int) -> Section:
        """Take one from a description.

        Raises
        ------
        ValueError
            What is wrong with it.
        """
        names = ["checksum", "dtype", "name", "offset", "shape"]
        if not isinstance(entry, dict) or sorted(entry) != names:
            raise ValueError(f"entry {number} describes no section")
        sum_, dtype, name, offset, shape = (entry[name] for name in names)
        words = all(isinstance(word, str) for word in (sum_, dtype, name))
        if not (words and type(offset) is int and isinstance(shape, list)):
            raise ValueError(f"entry {number} describes no section")
        if dtype not in TYPES:
            raise ValueError(f"section {number} has a type other than {', '.join(TYPES)}")
        whole = all(type(extent) is int and extent >= 0 for extent in shape)
        if len(shape) > MAX_DIMENSIONS or not whole or math.prod(filter(None, shape)) > MAX_ITEMS:
            raise ValueError(f"section {number} has a shape that no array has")
        return cls(name, dtype, tuple(shape), offset, sum_)


class Description(NamedTuple):
    """What a file says of itself: the version of the program that wrote it, plain metadata, and its sections."""

    program: str
    metadata: Mapping[str, Any]
    sections: Sequence[Section]

    def pack(self) -> bytes:
        """The description as bytes."""
        described = {**self._asdict(), "sections": [asdict(section) for section in self.sections]}
        text = json.dumps(described, allow_nan=False, sort_keys=True, separators=(",", ":")).encode("ascii")
        return text + b" " * (-(HEAD.size + len(text)) % ALIGNMENT)

    @classmethod
    def unpack(cls, text: bytes, size: int) -> Description:
        """Read a description of sections that follow each other and take so many bytes.

        Raises
        ------
        ValueError
            What is wrong with it.
        """
        try:
            known = json.loads(text.decode("ascii"))
        except RecursionError:
            raise ValueError("it is nested too deeply") from None
        if not isinstance(known, dict) or sorted(known) != sorted(cls._fields):
            raise ValueError("it describes no file of arrays")
        program, metadata, entries = (known[name] for name in cls._fields)
        if not (isinstance(program, str) and isinstance(metadata, dict) and isinstance(entries, list)):
            raise ValueError("it describes no file of arrays")
        sections = [Section.of(entry, number) for number, entry in enumerate(entries, 1)]
        end = 0
        for number, section in enumerate(sections, 1):
            if section.offset != end:
                raise ValueError(f"section {number} does not begin where the one before it ends")
            end += section.filled_bytes
        if end != size:
            raise ValueError(f"the sections take {end} bytes, and the file has {size} for them")
        if len({section.name for section in sections}) != len(sections):
            raise ValueError("two sections have the same name")
        return cls(program, metadata, sections)


def checksum(key: bytes, *pieces: bytes | memoryview) -> int:
    """Return the checksum of some bytes, laid end to end, under a key of 16 bytes, which is that of the format."""
    return siphash(key, pieces[0]) if len(pieces) == 1 else checksum_of(key, pieces)


def checksum_of(key: bytes, pieces: Iterable[bytes | memoryview]) -> int:
    """Return the checksum of pieces that are still to come."""
    state = Checksum(key)
    for piece in pieces:
        state.update(piece)
    return state.value
