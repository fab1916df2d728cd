"""Pieces: what the i-th of N parts of a job gives, as a file that says what it is a piece of.

A piece is a head, records (`oclgenomics.io.records`) and a foot. The first record is a `PieceRecord`, the others are
the parts of the result in their order. Each record is under a checksum; the foot has their number and a checksum of
all checksums. docs/pieces-format.md tells it byte by byte.
"""

from __future__ import annotations

import contextlib
import os
import stat
import struct
from collections.abc import Callable, Generator, Iterable, Iterator, Mapping, Sequence
from contextlib import closing
from dataclasses import dataclass, fields
from functools import partial
from itertools import chain
from typing import Any, NamedTuple

from oclgenomics import __version__
from oclgenomics.errors import InputError, ParameterError
from oclgenomics.io import foreign
from oclgenomics.io.array_layout import KEY, Checksum, checksum
from oclgenomics.io.atomic_file import WholeFile, whole_file
from oclgenomics.io.raw_file import open_stored, read_at
from oclgenomics.io.records import HEAD as RECORD, pack_record, unpack_record
from oclgenomics.lazy_names import late
from oclgenomics.notices import number_of

workers = late("oclgenomics.io.workers")

MARK = b"\x89opie\r\n\x1a"
VERSION = 1
HEAD = struct.Struct("<8sQ")  # mark, version
FOOT = struct.Struct("<QQ8s")  # records, checksum of their checksums, end mark
END = b"pieceend"
BLOCK = 1 << 16  # of an input, at both of its ends, that tells it from others
MOST_PIECES = 1_000_000
SHOWN = 10  # missing pieces that a message names
AGAIN = "make it again with the same command"
TOGETHER = "combine pieces of one command"


@dataclass(frozen=True)
class Shard:
    """The i-th of N pieces of a job.

    Attributes
    ----------
    number : int
        From 1 on.
    of : int

    Raises
    ------
    ParameterError
        There is no such piece.
    """

    number: int
    of: int

    def __post_init__(self) -> None:
        if not type(self.number) is type(self.of) is int:
            raise ParameterError("shard", "must be two whole numbers")
        if not 1 <= self.of <= MOST_PIECES:
            raise ParameterError("shard", f"a job has 1 to {MOST_PIECES:,} pieces, not {self.of:,}")
        if not 1 <= self.number <= self.of:
            raise ParameterError("shard", f"there is no piece {self.number:,} of {self.of:,}; the first is 1/{self.of}")

    def __str__(self) -> str:
        return f"{self.number}/{self.of}"

    def share(self, total: int) -> tuple[int, int]:
        """Return the begin and the end of this piece's share of so many equal things that follow each other."""
        return (self.number - 1) * total // self.of, self.number * total // self.of


WHOLE = Shard(1, 1)


@dataclass(frozen=True)
class InputMark:
    """What tells an input from others, wherever it lies: pieces are of the same job if theirs are equal.

    Attributes
    ----------
    name : str
        For messages; it may differ from piece to piece.
    size, time : int
        Bytes, and nanoseconds of the last change; of a folder, those of all files together and of the latest one.
    ends : str
        Checksum of its first and its last 64 KiB; of a folder, of the names and sizes of its files.
    """

    name: str
    size: int
    time: int
    ends: str

    @property
    def key(self) -> tuple[int, int, str]:
        """What has to be equal."""
        return self.size, self.time, self.ends

    @classmethod
    def of(cls, name: str) -> InputMark:
        """Take the mark of a file or a folder.

        Raises
        ------
        InputError
            It cannot be read, or is a stream, which no second piece could read.
        """
        if name == "-":
            raise InputError("pieces of a job all read the input; give a file", source=name)
        try:
            known = os.stat(name)
            if stat.S_ISDIR(known.st_mode):
                return cls._of_folder(name)
            if not stat.S_ISREG(known.st_mode):
                raise InputError("is a pipe or a device, and pieces of a job all read it; give a file", source=name)
            with open(name, "rb") as file:
                first = file.read(BLOCK)
                file.seek(max(known.st_size - BLOCK, 0))
                ends = checksum(KEY, first, file.read(BLOCK))
        except FileNotFoundError as error:
            raise InputError("no such file", source=name) from error
        except OSError as error:
            raise InputError(f"cannot be read ({error.strerror or error})", source=name) from error
        return cls(name, known.st_size, known.st_mtime_ns, f"{ends:016x}")

    @classmethod
    def _of_folder(cls, name: str) -> InputMark:
        size = time = 0
        listed = Checksum(KEY)
        for place, folders, files in os.walk(name):
            folders.sort()
            for file in sorted(files):
                path = os.path.join(place, file)
                known = os.stat(path)
                size, time = size + known.st_size, max(time, known.st_mtime_ns)
                listed.update(os.fsencode(f"{os.path.relpath(path, name)}\0{known.st_size}\0"))
        return cls(name, size, time, f"{listed.value:016x}")


@dataclass(frozen=True)
class PieceRecord:
    """What a piece is a piece of.

    Attributes
    ----------
    job : str
        Name of the job: "signatures scan".
    program : str
        Version of the program that made it.
    shard : Shard
    parameters : mapping
        All that the result depends on, by name: what differs makes pieces of different jobs.
    inputs : tuple of InputMark
        In the order in which the job names them.
    arguments : mapping
        Of the command that made it, for the one that combines; empty for a piece made from Python.
    device : mapping
        Where it was made, as `oclgenomics.app.provenance` records it.
    """

    job: str
    program: str
    shard: Shard
    parameters: Mapping[str, Any]
    inputs: tuple[InputMark, ...]
    arguments: Mapping[str, Any]
    device: Mapping[str, Any]

    def is_whole(self) -> bool:
        """Whether all of it is what it should be, and not something else that a file had in its place."""
        kinds = (str, str, Shard, Mapping, tuple, Mapping, Mapping)
        values = [getattr(self, field.name) for field in fields(self)]
        return (
            all(map(isinstance, values, kinds))
            and all(isinstance(mark, InputMark) for mark in self.inputs)
            and all(isinstance(name, str) for name in self.parameters)
        )


KINDS = (PieceRecord, Shard, InputMark)


def write_piece(path: str | os.PathLike[str], record: PieceRecord, parts: Iterable[Any]) -> None:
    """Write a piece while its parts come, whole or not at all.

    Parameters
    ----------
    path : path
    record : PieceRecord
    parts : iterable
        Each is written in a thread while the next one is made, and must not change meanwhile.

    Raises
    ------
    OutputError
        The file cannot be written; nothing half written is left.
    """
    with whole_file(path) as file:
        file.write(HEAD.pack(MARK, VERSION))
        sums, records = Checksum(KEY), 0
        written = workers.work_behind(partial(_write_record, file), chain([record], parts), behind=file.seekable)
        with closing(written) as heads:
            for head in heads:
                sums.update(head)
                records += 1
        file.write(FOOT.pack(records, sums.value, END))


def _write_record(file: WholeFile, value: Any) -> bytes:
    head, *rest = pack_record(value)
    for piece in (head, *rest):
        file.write(piece)
    return bytes(head)


class _StoredRecord(NamedTuple):
    """A record as bytes, and where it begins and ends in its file."""

    place: int
    end: int
    head: bytes
    text: bytearray
    arrays: bytearray
    checksum: int


class PieceFile:
    """A piece, its record verified; it is open only while one of its parts is read.

    Parameters
    ----------
    path : path

    Attributes
    ----------
    name : str
    record : PieceRecord

    Raises
    ------
    InputError
        The file cannot be read, is no piece, or is cut off or damaged.
    """

    def __init__(self, path: str | os.PathLike[str]) -> None:
        self.name = os.fspath(path)
        with self._opened() as handle:
            self._look(handle)

    def parts(self, kinds: Sequence[type]) -> Generator[Any, None, None]:
        """Read the parts one after the other; all of them are right when the last one has come.

        Parameters
        ----------
        kinds : sequence of type
            Dataclasses that parts are made of.

        Raises
        ------
        InputError
            The file is cut off or damaged.
        """
        for part in self.unmade_parts(kinds):
            yield part()

    def unmade_parts(self, kinds: Sequence[type]) -> Generator[Callable[[], Any], None, None]:
        """Read the parts one after the other, as bytes; parameters and errors are those of `parts`.

        Yields
        ------
        callable
            Verifies the bytes of a part and returns it: threads may do so side by side.
        """
        sums, place = Checksum(KEY), HEAD.size
        for number in range(self._records):
            with self._opened() as handle:  # for this part alone: parts of many pieces may be merged
                stored = self._record(handle, place)
            sums.update(stored.head)
            if number:
                yield partial(self._made, stored, kinds)
            else:
                self._made(stored, KINDS)
            place = stored.end
        if sums.value != self._sums or place != self._foot_at:
            raise self._error("its parts are not those that were written", place)

    def last(self, kinds: Sequence[type]) -> Any:
        """Read the last part alone; None if there is none.

        Raises
        ------
        InputError
            The file is cut off or damaged.
        """
        place = HEAD.size
        with self._opened() as handle:
            for _ in range(self._records - 1):
                _, text_size, size, _ = self._head(handle, place)
                place += RECORD.size + text_size + size
            return self._made(self._record(handle, place), kinds) if self._records > 1 else None

    @contextlib.contextmanager
    def _opened(self) -> Iterator[int]:
        handle = open_stored(self.name, "piece of a job")
        try:
            yield handle
        finally:
            os.close(handle)

    def _look(self, handle: int) -> None:
        size = os.fstat(handle).st_size
        begin = os.pread(handle, foreign.HEAD_BYTES, 0)
        if begin[: len(MARK)] != MARK or size < HEAD.size + FOOT.size:
            known = foreign.format_name(begin, MARK)
            what = "" if known is None else f"{known}, and "
            raise InputError(f"is {what}no piece of a job; --shard makes pieces", source=self.name, byte=0)
        _, version = HEAD.unpack(begin[: HEAD.size])
        if version != VERSION:
            trouble = f"has version {version} of the format, not {VERSION} as this program"
            raise self._error(trouble, len(MARK))
        self._foot_at = size - FOOT.size
        self._records, self._sums, end = FOOT.unpack(self._read(handle, FOOT.size, self._foot_at))
        if end != END:
            raise self._error("has no end mark: the file is cut off, or damaged at its end", self._foot_at)
        record = self._made(self._record(handle, HEAD.size), KINDS)
        if not (isinstance(record, PieceRecord) and record.is_whole()):
            raise self._error("does not say what it is a piece of", HEAD.size)
        self.record = record

    def _head(self, handle: int, place: int) -> tuple[bytes, int, int, int]:
        """The head of the record at a place and what it says: bytes of the text and of the arrays, and the checksum."""
        if place + RECORD.size > self._foot_at:
            raise self._error("has fewer parts than it says", place)
        head = bytes(self._read(handle, RECORD.size, place))
        text_size, size, wanted = RECORD.unpack(head)
        if text_size + size > self._foot_at - place - RECORD.size:
            raise self._error("a part is longer than the file: it is cut off or damaged", place)
        return head, text_size, size, wanted

    def _record(self, handle: int, place: int) -> _StoredRecord:
        """Read the record at a place."""
        head, text_size, size, wanted = self._head(handle, place)
        begin = place + RECORD.size
        text, arrays = self._read(handle, text_size, begin), self._read(handle, size, begin + text_size)
        return _StoredRecord(place, begin + text_size + size, head, text, arrays, wanted)

    def _made(self, stored: _StoredRecord, kinds: Sequence[type]) -> Any:
        """Verify a record, and return its value."""
        if checksum(KEY, memoryview(stored.text), memoryview(stored.arrays)) != stored.checksum:
            raise self._error("a part is damaged (its checksum differs)", stored.place)
        try:
            return unpack_record(stored.text, stored.arrays, kinds)
        except ValueError as error:
            raise self._error(f"a part is malformed: {error}", stored.place) from error

    def _read(self, handle: int, size: int, place: int) -> bytearray:
        data = bytearray(size)
        read_at(handle, place, memoryview(data), self.name)
        return data

    def _error(self, trouble: str, byte: int) -> InputError:
        return InputError(f"{trouble}; {AGAIN}", source=self.name, byte=byte)


def in_order(records: Sequence[tuple[str, PieceRecord]]) -> list[int]:
    """Return the places of pieces in the order of their shards, having compared what they are pieces of.

    Parameters
    ----------
    records : sequence of (str, PieceRecord)
        The name and the record of each.

    Raises
    ------
    InputError
        They are of different jobs, versions, options or inputs, or one is missing or there twice.
    """
    first_name, first = records[0]
    for name, record in records:
        check_alike(name, record, first_name, first)
    places: dict[int, int] = {}
    for place, (name, record) in enumerate(records):
        other = places.setdefault(record.shard.number, place)
        if other != place:
            told = f"is piece {record.shard}, as {records[other][0]} is; give each piece once"
            raise InputError(told, source=name)
    missing = [str(number) for number in range(1, first.shard.of + 1) if number not in places]
    if missing:
        listed = ", ".join(missing[:SHOWN]) + (f" and {len(missing) - SHOWN:,} more" if len(missing) > SHOWN else "")
        told = f"is one of {first.shard.of:,} pieces, of which {listed} {'is' if len(missing) == 1 else 'are'} missing"
        raise InputError(f"{told}; make what is missing, and give all pieces at once", source=first_name)
    return [places[number] for number in range(1, first.shard.of + 1)]


def check_alike(name: str, record: PieceRecord, first_name: str, first: PieceRecord) -> None:
    """Refuse a piece that is of another job than the first one."""
    facts: list[tuple[str, Callable[[PieceRecord], Any]]] = [
        ("of the job", lambda one: one.job),
        ("made by version", lambda one: one.program),
        ("one of so many pieces:", lambda one: one.shard.of),
    ]
    for what, of in facts:
        if of(record) != of(first):
            raise InputError(f"is {what} {of(record)}, and {first_name} of {of(first)}; {TOGETHER}", source=name)
    for parameter in sorted({*record.parameters, *first.parameters}):
        ours, theirs = record.parameters.get(parameter), first.parameters.get(parameter)
        if ours != theirs:
            told = f"was made with {parameter} {_shown(ours)}, and {first_name} with {_shown(theirs)}; {TOGETHER}"
            raise InputError(told, source=name)
    if len(record.inputs) != len(first.inputs):
        told = f"is of {number_of(len(record.inputs), 'input')}, and {first_name} of {len(first.inputs):,}; {TOGETHER}"
        raise InputError(told, source=name)
    for ours, theirs in zip(record.inputs, first.inputs, strict=True):
        if ours.key != theirs.key:
            what = f"the input {ours.name} differs from {theirs.name}" if ours.name != theirs.name else (
                f"the input {ours.name} was another one, or changed since,"
            )  # fmt: skip
            raise InputError(f"{what} when {first_name} was made; {TOGETHER}", source=name)


def check_same_input(name: str, piece: PieceFile, place: int) -> None:
    """Refuse an input that is read again, of which a piece had another one.

    Parameters
    ----------
    name : str
        Where it is now.
    piece : PieceFile
    place : int
        Its place among the inputs of the piece.

    Raises
    ------
    InputError
    """
    if InputMark.of(name).key != piece.record.inputs[place].key:
        told = f"is not the file that {piece.name} was made with, or has changed since; make the pieces again"
        raise InputError(told, source=name)


def _shown(value: Any) -> str:
    return "nothing" if value is None else " ".join(str(value).split())


def check_version(name: str, record: PieceRecord) -> None:
    """Refuse a piece that another version of the program made, whose parts may mean something else.

    Raises
    ------
    InputError
    """
    if record.program != __version__:
        told = f"was made by version {record.program} of the program, and this is {__version__}; use the same for both"
        raise InputError(told, source=name)
