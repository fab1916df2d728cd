"""Databases on disk; docs/classify-format.md says what each byte is.

Features stay in the file until they are asked for. What people take for databases is recognized by how it begins.
"""

from __future__ import annotations

import itertools
import os
import stat
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import closing, contextmanager
from dataclasses import asdict, fields, replace
from functools import partial
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from oclgenomics import __version__
from oclgenomics.classify.database.database import (
    Database,
    described_fault,
    feature_faults,
    find_fault,
    key_before,
    numbers_fault,
    piece_fault,
)
from oclgenomics.classify.database.features import (
    Counts,
    FeatureNumbers,
    Features,
    Found,
    SectionRoom,
    StoredPiece,
    count_type,
    cut_features,
)
from oclgenomics.classify.database.manifest import check_manifest, manifest_path, write_manifest
from oclgenomics.classify.database.packed_file import PackedStore, contradiction
from oclgenomics.classify.database.packing import CountingPacker, pack_features
from oclgenomics.classify.options import BuildOptions, SketchOptions
from oclgenomics.classify.taxonomy.coverage import known_features
from oclgenomics.classify.taxonomy.lineages import Lineages, Targets
from oclgenomics.classify.taxonomy.tree import Taxonomy
from oclgenomics.errors import InputError, ParameterError, UsageError
from oclgenomics.io.array_file import THREADS, ArrayFile, SectionReader, Window, is_of_kind
from oclgenomics.io.array_layout import FileKind
from oclgenomics.io.array_writing import BlockSummer, write_arrays
from oclgenomics.io.cores import usable_cores
from oclgenomics.io.foreign import ALIGNED, HEAD_BYTES, foreign_format
from oclgenomics.io.json_text import Fields
from oclgenomics.io.read_ahead import ReadAhead
from oclgenomics.io.workers import Workers, work_behind

# Sections of a file, in the order of the fields that they hold, and their types; "" for texts.
TARGETS = {
    "target_names": "", "sources": "", "target_source": "<i4", "target_record": "<i8", "target_taxon": "<i4",
    "target_letters": "<i8", "target_windows": "<i8",
}  # fmt: skip
TAXA = {
    "taxids": "<i8", "parents": "<i4", "ranks": "|i1", "taxon_names": "", "merged_from": "<i8", "merged_to": "<i8",
}  # fmt: skip
KNOWN = {"clade_features": "<i8"}  # files may lack it
UNMASKED = 1  # version of the format before k-mers were masked: every k-mer may be a feature
SUMMED_WHOLE = 2  # version before the checksums of sections were made of those of blocks
PLAIN = 3  # version before features were packed, and the checksums of blocks kept
KIND = FileKind(
    b"\x89ocla\r\n\x1a", 4, "database of `oclgenomics classify`", "build it again with `oclgenomics classify build`",
    older=(UNMASKED, SUMMED_WHOLE, PLAIN), blocks_since=3, sums_since=4,
)  # fmt: skip

BLOCK, LOCATIONS = 1 << 20, 1 << 22  # features and locations that are read at a time
NOT_MASKED = {"min_triplets": 0, "soft_masked": False}
SKETCH = tuple(field.name for field in fields(SketchOptions))
BUILD = tuple(field.name for field in fields(BuildOptions))
BUILD_KINDS: dict[str, type] = {
    "max_locations": int, "remove_overpopulated": bool, "max_ambiguous": int, "sequence_id_format": str,
}  # fmt: skip
HOW_TO_BUILD = "build one of its references with `oclgenomics classify build`"
OWN = b"\x89ocla"
METACACHE_VERSION = 20200820  # of its databases, as 8 bytes
BEGINNINGS = {
    METACACHE_VERSION.to_bytes(8, "little"): f"is a database of MetaCache; {HOW_TO_BUILD}",
    b"\x1f\x8b": "is compressed by gzip; a database is read as it was written, so unpack it",
    b"BZh": "is compressed by bzip2; a database is read as it was written, so unpack it",
    b"\x28\xb5\x2f\xfd": "is compressed by Zstandard; a database is read as it was written, so unpack it",
    b">": "is FASTA; build a database of it with `oclgenomics classify build`",
    b"@": "is FASTQ, which reads are in; give a database of `oclgenomics classify build`",
}


def write_database(
    path: str | os.PathLike[str],
    database: Database,
    *,
    manifest: bool = False,
    summer: BlockSummer | None = None,
    packer: CountingPacker | None = None,
) -> None:
    """Write a database to a file, whole or not at all. Equal databases give equal bytes.

    Parameters
    ----------
    path : path
    database : Database
    manifest : bool
        Also write its SHA-256 to a file next to it, as `sha256sum` does. One that is there is written anew in any case.
    summer : callable, optional
        Makes checksums on a device; see `oclgenomics.primitives.block_summer`.
    packer : CountingPacker, optional
        Packs and counts features on a device; see `oclgenomics.classify.device.packing.FeaturePacker`.

    Raises
    ------
    OutputError
        The file cannot be written; nothing half written is left.
    ValueError
        The database contradicts itself.
    DeviceError
        The packer's device was lost.
    """
    fault = find_fault(database)
    if fault is not None:
        raise ValueError(f"the database has {fault}")
    arrays, sums = packed_arrays(database, packer), None if packer is None else packer.sums
    write_arrays(path, KIND, __version__, described(database), arrays, summer=summer, sums=sums)
    if manifest or os.path.exists(manifest_path(path)):
        write_manifest(path)


def is_database(path: str | os.PathLike[str]) -> bool:
    """Whether a path is that of a file of `write_database`; of pipes and their like nothing is read."""
    return is_of_kind(path, KIND)


def read_database(path: str | os.PathLike[str]) -> Database:
    """Read a database and check all of it.

    Raises
    ------
    InputError
        The file cannot be read, is of another kind or version, cut off or damaged, or contradicts itself.
    """
    with open_database(path) as (database, features):
        return replace(database, features=features.whole())


class Verified(NamedTuple):
    """A database that is sound.

    Attributes
    ----------
    database : Database
        Without its features.
    numbers : FeatureNumbers
        How many features it has.
    sha256 : str, optional
        That of the file, if there is a manifest that says the same.
    """

    database: Database
    numbers: FeatureNumbers
    sha256: str | None


def verify_database(path: str | os.PathLike[str]) -> Verified:
    """Read a database, check its checksums and what it holds, and compare it with its manifest if there is one.

    Features are read piece by piece, so that this takes little memory.

    Raises
    ------
    InputError
        It cannot be read, is no database, or is damaged, contradicts itself, or is another than its manifest says.
    """
    with open_database(path) as (database, features):
        for _ in features.pieces(BLOCK, LOCATIONS):
            pass
    return Verified(database, features.numbers, check_manifest(path) if os.path.exists(manifest_path(path)) else None)


@contextmanager
def open_database(path: str | os.PathLike[str]) -> Iterator[tuple[Database, StoredFeatures | PackedStore]]:
    """Read a database but for its features, which come from the file piece by piece as long as the context lasts.

    Raises
    ------
    InputError
        As `read_database`; what is wrong with the features is said when they are read.
    """
    with _opened(path) as (file, database):
        if file.version <= PLAIN:
            yield database, StoredFeatures(file, database)
        else:
            yield database, PackedStore(file, database, stored_numbers(file))


def read_description(path: str | os.PathLike[str]) -> Database:
    """Read a database but for its features, of which the result has none; errors are those of `open_database`."""
    with _opened(path) as (_, database):
        return database


@contextmanager
def _opened(path: str | os.PathLike[str]) -> Iterator[tuple[ArrayFile, Database]]:
    """Lend the file of a database, and what is in it but for the features."""
    refuse_foreign(path)
    with ArrayFile(path, KIND) as file:
        known = Fields(file.metadata, file.name)
        known.only(("options", "provenance", *(("features",) if file.version > PLAIN else ())))
        options = stored_options(known.inner("options"), file.version)
        provenance = known.get("provenance", dict)
        none = Features.none(_count_type(options))
        tables = Targets(*_read(file, TARGETS)), Taxonomy(*_read(file, TAXA))
        (clades,) = _read(file, KNOWN) if KNOWN.keys() <= file.sections.keys() else (None,)
        database = Database(options, *tables, none, provenance, clades)
        fault = described_fault(database)
        if fault is not None:
            raise contradiction(file, fault)
        yield file, database


def described(database: Database) -> dict[str, Any]:
    """Return the metadata of a database."""
    numbers = database.features.numbers._asdict()
    return {"options": asdict(database.options), "provenance": database.provenance, "features": numbers}


def packed_arrays(database: Database, packer: CountingPacker | None = None) -> dict[str, NDArray[Any]]:
    """Return the sections of a database."""
    known, lineages = database.known, Lineages.of(database.taxonomy, database.targets)
    with Workers(min(THREADS, usable_cores())) as threads:
        packed = pack_features(database.features, int(database.targets.windows.sum()), threads, packer)
        if known is None and packer is not None:
            known = packer.clades(database.features, lineages)
        elif known is None:
            known = known_features(database.features, lineages, threads)
    return {**_known_arrays(database), "clade_features": known, **packed._asdict()}


def _known_arrays(database: Database) -> dict[str, NDArray[Any]]:
    return {**_sections(database.targets, TARGETS), **_sections(database.taxonomy, TAXA)}


def stored_numbers(file: ArrayFile) -> FeatureNumbers:
    """Take how many features there are from the description of a file.

    Raises
    ------
    InputError
        A number is missing, or they do not go together.
    """
    stored = Fields(file.metadata, file.name).inner("features")
    stored.only(FeatureNumbers._fields)
    numbers = FeatureNumbers(*(stored.get(name, int) for name in FeatureNumbers._fields))
    bounds = [0, numbers.single, numbers.alive, numbers.located, numbers.alive * numbers.largest]
    if min(numbers) < 0 or bounds != sorted(bounds):
        raise contradiction(file, "numbers of features that do not go together")
    return numbers


def _sections(table: Targets | Taxonomy, names: Mapping[str, str]) -> dict[str, NDArray[Any]]:
    """The sections of a table in their order; texts are two."""
    found: dict[str, NDArray[Any]] = {}
    for field, (name, kind) in zip(fields(table), names.items(), strict=True):
        value = getattr(table, field.name)
        found |= {name: value} if kind else _packed(name, value)
    return found


def _read(file: ArrayFile, names: Mapping[str, str]) -> list[Any]:
    """The fields of a table."""
    return [file.array(name, kind) if kind else _names(file, name) for name, kind in names.items()]


def _feature_types(options: BuildOptions) -> dict[str, str]:
    """The sections of features, and their types."""
    return {"keys": "<u4", "counts": _count_type(options), "locations": "<u4"}


def _count_type(options: BuildOptions) -> str:
    return np.dtype(count_type(options.max_locations)).str


def _packed(section: str, names: Iterable[str]) -> dict[str, NDArray[Any]]:
    """Texts as two sections: their bytes, and where each one starts."""
    encoded = [name.encode("utf-8", "surrogatepass") for name in names]  # names of files may be no text
    starts = np.cumsum([0, *map(len, encoded)], dtype=np.int64)
    return {section: np.frombuffer(b"".join(encoded), np.uint8), f"{section}_starts": starts}


def _names(file: ArrayFile, section: str) -> tuple[str, ...]:
    text, starts = file.array(section, "|u1"), file.array(f"{section}_starts", "<i8")
    if not (len(starts) and starts[0] == 0 and starts[-1] == len(text) and (np.diff(starts) >= 0).all()):
        raise file.error(f"contradicts itself: {section} and where they start do not go together", 0)
    joined = text.tobytes()
    try:
        return tuple(joined[a:b].decode("utf-8", "surrogatepass") for a, b in itertools.pairwise(starts.tolist()))
    except UnicodeDecodeError as error:
        raise file.error(f"contradicts itself: one of {section} is no UTF-8", 0) from error


class StoredFeatures:
    """The features of a database in an open file of a version that does not pack them. None of them is in memory.

    Parameters
    ----------
    file : ArrayFile
    database : Database
        Without features.

    Attributes
    ----------
    numbers : FeatureNumbers

    Raises
    ------
    InputError
        The file is damaged or contradicts itself.
    """

    def __init__(self, file: ArrayFile, database: Database) -> None:
        self._file, self._database = file, database
        self._windows = int(database.targets.windows.sum())
        keys, counts, locations = self._readers().values()
        self._features = len(keys)
        self.numbers = _numbers_of(counts, in_blocks=file.in_blocks)
        fault = numbers_fault(self.numbers, len(keys), len(locations), database.options.max_locations)
        if fault is not None:
            raise contradiction(file, fault)

    def __len__(self) -> int:
        return self._features

    @property
    def packed(self) -> None:
        """Nothing, as they are not packed."""
        return None

    def pieces(self, features: int, locations: int) -> Iterator[Features]:
        """Read the features in pieces as those of `Features.pieces`, and check them.

        What is damaged may be noticed behind the last piece only.

        Raises
        ------
        InputError
            The file is damaged or contradicts itself, or has changed since it was opened.
        """
        ahead = ReadAhead(self._read(features, locations), ready=1)
        try:
            with closing(work_behind(self._checked, key_before(ahead))) as pieces:
                yield from pieces
        finally:
            ahead.stop(wait=True)

    @property
    def blocks(self) -> dict[str, int]:
        """Blocks of the sections whose windows come with `stored_pieces`."""
        return {name: reader.blocks for name, reader in self._readers().items()} if self._file.in_blocks else {}

    def stored_pieces(
        self, features: int, locations: int, found: Callable[[], Found], room: SectionRoom | None = None
    ) -> Iterator[StoredPiece]:
        """Read the features in pieces as those of `pieces`, for somebody who makes checksums and looks at the order.

        Use nothing of them before the iterator has ended without an error.

        Parameters
        ----------
        features, locations : int
            As `Features.pieces` takes them.
        found : callable
            Called behind the last piece.
        room : callable, optional
            Gives memory for so many bytes of a section, by its name. It is called in another thread, while two pieces
            that came before are still to be used.

        Raises
        ------
        InputError
            As `pieces`.
        """
        if not self._file.in_blocks:
            yield from map(StoredPiece, self.pieces(features, locations))
            return
        readers = self._readers()
        with Workers(min(THREADS, usable_cores())) as threads:
            for name, reader in readers.items():
                reader.threads = threads
                if room is not None:
                    reader.room = partial(room, name)
            ahead = ReadAhead(self._cut(readers, SectionReader.window, features, locations), ready=1)
            try:
                yield from ahead
            finally:
                ahead.stop(wait=True)
        in_order, sums = found()
        for name, reader in readers.items():
            reader.finish(sums[name])
        if not in_order:
            for _ in self.pieces(BLOCK, LOCATIONS):
                pass  # which says what is wrong
            raise self._changed()

    def whole(self) -> Features:
        """Read all features, and check them; errors are those of `pieces`."""
        arrays: Any = [self._file.array(*both) for both in _feature_types(self._database.options).items()]
        found = Features(*arrays)
        fault = next(feature_faults(replace(self._database, features=found)), None)
        if fault is not None:
            raise contradiction(self._file, fault)
        return found

    def _readers(self) -> dict[str, SectionReader]:
        kinds = _feature_types(self._database.options)
        return {name: self._file.reader(name, kind) for name, kind in kinds.items()}

    def _read(self, features: int, locations: int) -> Iterator[Features]:
        readers = self._readers()
        for piece in self._cut(readers, SectionReader.summed_window, features, locations):
            yield piece.features
        for reader in readers.values():
            reader.finish()

    def _cut(
        self,
        readers: Mapping[str, SectionReader],
        take: Callable[[SectionReader, int], Window],
        features: int,
        locations: int,
    ) -> Iterator[StoredPiece]:
        """Read pieces that have no more locations than were counted, and not more in lists of several."""
        keys, counts, lists = readers.values()
        listed = self.numbers.in_lists
        while keys.left:
            size = min(features, keys.left)
            key_window, count_window = take(keys, size), take(counts, size)
            for cut, located in cut_features(count_window.items, locations):
                if located > lists.left:
                    raise self._changed()
                windows = [window.part(cut.start, cut.stop) for window in (key_window, count_window)]
                windows.append(take(lists, located))
                piece: Any = Features(*(window.items for window in windows))
                listed -= piece.in_lists
                if listed < 0:
                    raise self._changed()
                yield StoredPiece(piece, dict(zip(readers, windows, strict=True)))

    def _changed(self) -> InputError:
        return self._file.error("changed while it was read", 0)

    def _checked(self, one: tuple[Features, int]) -> Features:
        fault = piece_fault(*one, self._windows)
        if fault is not None:
            raise contradiction(self._file, fault)
        return one[0]


def _numbers_of(counts: SectionReader, *, in_blocks: bool) -> FeatureNumbers:
    """Read and verify the numbers of locations, and sum them up; threads make the checksums of blocks."""

    def windows() -> Iterator[Window]:
        while counts.left:
            yield (counts.window if in_blocks else counts.summed_window)(min(BLOCK, counts.left))

    def items(window: Window) -> Counts:
        if in_blocks:
            counts.sum(window)
        return window.items

    with Workers() as threads:
        numbers = FeatureNumbers.added(threads.map(lambda window: FeatureNumbers.of_block(items(window)), windows()))
    counts.finish()
    return numbers


def stored_options(stored: Fields, version: int) -> BuildOptions:
    """Take options from the description of a file of some version of the format.

    Raises
    ------
    InputError
        One is missing, unknown or not what it may be.
    """
    stored.only(BUILD)
    try:
        rank = stored.get("remove_ambiguous", str, optional=True)
        others = {name: stored.get(name, kind) for name, kind in BUILD_KINDS.items()}
        return BuildOptions(_sketch_options(stored.inner("sketch"), version), remove_ambiguous=rank, **others)
    except UsageError as error:
        told = f"was built with options that this program does not have: {error}"
        raise InputError(told, source=stored.source) from None


def _sketch_options(stored: Fields, version: int) -> SketchOptions:
    unmasked: dict[str, Any] = NOT_MASKED if version == UNMASKED else {}
    names = [name for name in SKETCH if name not in unmasked]
    stored.only(names)
    values: dict[str, Any] = {name: stored.get(name, bool if name == "soft_masked" else int) for name in names}
    options = SketchOptions(**values, **unmasked)
    chosen = [name for name in names if getattr(options, name) != values[name]]  # since the file leaves it open
    if chosen:
        raise ParameterError(chosen[0], "is not given", values[chosen[0]])
    return options


def refuse_foreign(path: str | os.PathLike[str]) -> None:
    """Refuse folders, empty files and files of other kinds that are easily recognized.

    Raises
    ------
    InputError
        What the file is, and what to do. Of a file that cannot be read, nothing is said here.
    """
    try:
        known = os.stat(path)
        if stat.S_ISDIR(known.st_mode):
            raise InputError(_folder(path), source=os.fspath(path))
        if not stat.S_ISREG(known.st_mode):
            return
        with open(path, "rb", buffering=0) as file:
            beginning = file.read(HEAD_BYTES)
    except OSError:
        return
    if not beginning:
        raise InputError("is empty; give a database of `oclgenomics classify build`", source=os.fspath(path))
    trouble = next((told for other, told in BEGINNINGS.items() if beginning.startswith(other)), None)
    if (other := foreign_format(beginning, OWN)) is not None and (trouble is None or other.name in ALIGNED):
        trouble = f"is {other.name}; give a database of `oclgenomics classify build`"
    if trouble is not None:
        raise InputError(trouble, source=os.fspath(path), byte=0)


def _folder(path: str | os.PathLike[str]) -> str:
    if os.path.exists(os.path.join(path, "hash.k2d")):
        return f"is a database of Kraken 2; {HOW_TO_BUILD}"
    return "is a folder; give the file that `oclgenomics classify build` wrote"
