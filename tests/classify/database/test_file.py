"""Databases in files: they come back as they were, damage is noticed, and no other file passes for one."""

from __future__ import annotations

import gzip
import hashlib
import shutil
import subprocess
from collections.abc import Callable, Sequence
from dataclasses import fields, is_dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from helpers.array_file_damage import contents
from helpers.classify_databases import edge_database, packed_database, random_database, viral_database, write_as
from helpers.classify_example import example_database
from helpers.format_pages import FormatPage
from helpers.products import examples, tried
from hypothesis import given, settings, strategies as st

from oclgenomics.classify.database import file
from oclgenomics.classify.database.database import Database, find_fault
from oclgenomics.classify.database.file import (
    KIND,
    PLAIN,
    SUMMED_WHOLE,
    is_database,
    open_database,
    read_database,
    write_database,
)
from oclgenomics.classify.database.manifest import check_manifest
from oclgenomics.classify.database.packed_file import OUT_OF_PLACE
from oclgenomics.classify.database.packing import Widths
from oclgenomics.classify.options import RANKS, BuildOptions, SketchOptions
from oclgenomics.classify.plan import count_windows
from oclgenomics.classify.taxonomy.coverage import known_features
from oclgenomics.classify.taxonomy.lineages import Lineages
from oclgenomics.errors import InputError, OutputError
from oclgenomics.io.array_file import ArrayFile
from oclgenomics.io.array_layout import FOOT, HEAD
from oclgenomics.io.array_writing import write_arrays

OTHER_OPTIONS = BuildOptions(
    sketch=SketchOptions(12, 8, 64, 40), max_locations=300, remove_overpopulated=True, remove_ambiguous="species",
    max_ambiguous=2, sequence_id_format="filename",
)  # fmt: skip


def assert_same(found: Any, expected: Any) -> None:
    """Compare dataclasses and what is in them."""
    assert type(found) is type(expected)
    if isinstance(expected, np.ndarray):
        assert found.dtype == expected.dtype
        np.testing.assert_array_equal(found, expected)
        return
    if not is_dataclass(expected):
        assert found == expected
        return
    for field in fields(expected):
        one, other = getattr(found, field.name), getattr(expected, field.name)
        if field.name == "known" and other is None:
            continue  # which is counted when it is written
        assert_same(one, other)


VERSIONS = pytest.mark.parametrize("version", [KIND.version, PLAIN, SUMMED_WHOLE])
PLAIN_KIND = replace(KIND, version=PLAIN)


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "x.ocla"


@settings(max_examples=30)
@given(
    seed=st.integers(0, 999), targets=st.integers(0, 6), features=st.integers(0, 40),
    options=st.sampled_from([BuildOptions(), OTHER_OPTIONS]),
)  # fmt: skip
def test_databases_come_back(
    tmp_path_factory: pytest.TempPathFactory, seed: int, targets: int, features: int, options: BuildOptions
) -> None:
    path, database = tmp_path_factory.mktemp("database") / "x", random_database(seed, targets, features, options)
    write_database(path, database)
    assert is_database(path)
    found = read_database(path)
    assert_same(found, database)
    whole = path.read_bytes()
    write_database(path, found)
    assert path.read_bytes() == whole


@settings(max_examples=examples(60))
@given(
    seed=st.integers(0, 999), count=st.integers(0, 40), features=st.integers(1, 9), locations=st.integers(1, 9),
    options=st.sampled_from([BuildOptions(), OTHER_OPTIONS]), version=st.sampled_from([2, 3, 4]),
)  # fmt: skip
def test_features_come_in_pieces(
    tmp_path_factory: pytest.TempPathFactory,
    seed: int,
    count: int,
    features: int,
    locations: int,
    options: BuildOptions,
    version: int,
) -> None:
    """From a file those that a database in memory has, no larger than asked for, and together all of them."""
    path, database = tmp_path_factory.mktemp("database") / "x", random_database(seed, 4, count, options)
    write_as(path, database, version)
    with open_database(path) as (opened, stored):
        assert not len(opened.features)
        assert_same(replace(opened, features=database.features), database)
        pieces = list(stored.pieces(features, locations))
        assert (len(stored), stored.numbers.located) == (count, len(database.features.locations))
        assert stored.numbers == database.features.numbers
    for found, expected in zip(pieces, database.features.pieces(features, locations), strict=True):
        assert_same(found, expected)
        assert 1 <= len(found) <= features
        assert len(found.locations) == found.counts.sum()
        assert len(found.locations) <= locations or len(found) == 1
    tally = np.bincount(database.features.counts, minlength=2).tolist()
    numbers = stored.numbers
    assert [numbers.dead, numbers.single, numbers.alive] == [*tally[:2], sum(tally[1:])]
    assert numbers.largest == max([0, *database.features.counts.tolist()])
    assert numbers.in_lists == sum(number * count for number, count in enumerate(tally) if number > 1)
    for name in ("keys", "counts", "locations"):
        parts = [getattr(piece, name) for piece in pieces]
        assert np.concatenate([*parts, []]).tolist() == getattr(database.features, name).tolist()


@pytest.mark.parametrize(("before", "after"), [([1, 1], [2, 0]), ([1, 1], [2, 1]), ([1], [255]), ([0], [1])])
def test_a_file_that_changes_while_its_features_are_read(path: Path, before: list[int], after: list[int]) -> None:
    """No more lists come than there is room for by what was counted before, whatever the file says by then."""
    database = random_database(3, 4, 60)
    write_as(path, database, PLAIN)
    with open_database(path) as (_, features):
        with ArrayFile(path, KIND) as file:
            start = file._find("counts", "|u1", 1)[1]
        with open(path, "r+b") as changed:
            for place, count in zip(np.flatnonzero(database.features.counts == before[0]), after, strict=False):
                changed.seek(start + place)
                changed.write(bytes([count]))
        with pytest.raises(InputError, match="changed while it was read; build it again"):
            list(features.pieces(1 << 20, 1 << 20))


@pytest.mark.parametrize("make", [edge_database, viral_database])
def test_real_databases_come_back(path: Path, make: Callable[[], Database]) -> None:
    write_database(path, make())
    assert_same(read_database(path), make())


@settings(max_examples=examples(50))
@given(st.lists(st.text(st.characters()), unique=True, min_size=1, max_size=5))
def test_any_names(tmp_path_factory: pytest.TempPathFactory, names: list[str]) -> None:
    path, plain = tmp_path_factory.mktemp("database") / "x", random_database(1, len(names))
    targets = replace(plain.targets, names=tuple(names), sources=("\udc80\n", ""))
    taxonomy = replace(plain.taxonomy, names=(names[0],) * len(plain.taxonomy))
    database = replace(plain, targets=targets, taxonomy=taxonomy)
    write_database(path, database)
    assert_same(read_database(path), database)


# Manifests


def test_manifests_are_those_of_sha256sum(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    for name in ("a.db", "with space", "back\\slash", "line\nbreak", "\udcff"):
        write_database(name, random_database(1), manifest=True)
        manifest = f"{name}.sha256"
        assert check_manifest(name) == hashlib.sha256(Path(name).read_bytes()).hexdigest()
        if shutil.which("sha256sum"):
            assert subprocess.run(["sha256sum", "--check", manifest], capture_output=True, check=True).returncode == 0
            told = subprocess.run(["sha256sum", name], capture_output=True, check=True).stdout
            assert Path(manifest).read_bytes() == told


def test_a_manifest_that_is_there_is_kept_right(path: Path) -> None:
    write_database(path, random_database(1))
    assert not Path(f"{path}.sha256").exists()
    write_database(path, random_database(2), manifest=True)
    write_database(path, random_database(3))
    check_manifest(path)


def test_manifests_of_other_files(path: Path) -> None:
    manifest = Path(f"{path}.sha256")
    with pytest.raises(InputError, match=r"x\.ocla\.sha256: cannot be read"):
        check_manifest(path)
    write_database(path, random_database(1), manifest=True)
    line = manifest.read_bytes()
    manifest.write_bytes(b"0" * 64 + b"  other\n\nrubbish\n" + line.replace(b"  ", b" *folder/"))
    check_manifest(path)
    for text in (b"", b"rubbish", line + line, line.replace(b"x.ocla", b"y.ocla")):
        manifest.write_bytes(text)
        with pytest.raises(InputError, match=r"sha256: lists x\.ocla (not|twice); write it again"):
            check_manifest(path)
    manifest.write_bytes(line)
    write_arrays(path, KIND, "2", {}, {})
    with pytest.raises(InputError, match=r"x\.ocla: is not the file that .*x\.ocla\.sha256 was made of"):
        check_manifest(path)


# Damage


def read_in_pieces(path: Path) -> None:
    with open_database(path) as (_, features):
        for _ in features.pieces(7, 20):
            pass


READERS: tuple[Callable[[Path], object], ...] = (read_in_pieces, read_database)


def refused(
    path: Path,
    data: bytes,
    match: str = "build it again|is no database",
    readers: Sequence[Callable[[Path], object]] = READERS,
) -> str:
    path.write_bytes(data)
    for read in readers:
        with pytest.raises(InputError, match=match) as caught:
            read(path)
    assert str(caught.value).startswith(str(path))
    assert "\n" not in str(caught.value)
    return str(caught.value)


@VERSIONS
def test_every_damaged_byte_is_noticed(path: Path, version: int) -> None:
    """By the two readers in turn: whatever a file holds is of several bytes, but for its ends."""
    write_as(path, random_database(3, 3, 9), version)
    whole = path.read_bytes()
    ends, step = {*range(HEAD.size), *range(len(whole) - FOOT.size, len(whole))}, 3 if version == KIND.version else 5
    for place in tried(sorted(ends | {*range(0, len(whole), step)}), whole=range(len(whole))):
        damaged = whole[:place] + bytes([whole[place] ^ 1 << place % 8]) + whole[place + 1 :]
        refused(path, damaged, readers=[READERS[place % 2]])


@VERSIONS
def test_every_cut_off_end_is_noticed(path: Path, version: int) -> None:
    write_as(path, random_database(3, 3, 9), version)
    whole = path.read_bytes()
    for size in range(1, len(whole), 7):
        assert "cut off" in refused(path, whole[:size])


OTHERS = {
    "": "is empty; give a database",
    ">a\nACGT\n": "is FASTA; build a database of it with `oclgenomics classify build`",
    "@a\nACGT\n+\nIIII\n": "is FASTQ",
    "text": "is no database of `oclgenomics classify`, or cut off",
}


@pytest.mark.parametrize("text", OTHERS)
def test_other_files(path: Path, text: str) -> None:
    refused(path, text.encode(), OTHERS[text])


def test_other_programs(path: Path) -> None:
    refused(path, gzip.compress(b"x"), "is compressed by gzip; .* unpack it")
    refused(path, (20200820).to_bytes(8, "little") + bytes(100), "is a database of MetaCache; build one")
    other = "is a database of `oclgenomics kmers`; give a database of `oclgenomics classify build`"
    refused(path, b"\x89okmer\r\n" + bytes(100), other)


def test_what_is_no_file(tmp_path: Path) -> None:
    for name, message in (("missing", "no such file"), ("", "is a folder; give the file")):
        with pytest.raises(InputError, match=message):
            read_database(tmp_path / name)
    (tmp_path / "hash.k2d").touch()
    with pytest.raises(InputError, match="is a database of Kraken 2"):
        read_database(tmp_path)
    with pytest.raises(InputError, match="is no file"):
        read_database("/dev/null")
    assert not is_database("/dev/null")
    with pytest.raises(OutputError):
        write_database(tmp_path / "no" / "x", random_database(1))


# Files whose checksums are right, but which say what cannot be


def moved(array: np.ndarray, at: int, value: int) -> np.ndarray:
    array[at] = np.array(value).astype(array.dtype)
    return array


CHANGED: dict[str, tuple[str, Callable[[np.ndarray], np.ndarray], str]] = {
    "no UTF-8": ("target_names", lambda a: moved(a, 0, 0xFF), "one of target_names is no UTF-8"),
    "the same names": ("target_names", lambda a: np.tile(a[:12], len(a) // 12), "two targets of the same name"),
    "names cut elsewhere": ("target_names_starts", lambda a: moved(a, 0, 1), "target_names and where they start"),
    "a name too few": ("target_names_starts", lambda a: np.delete(a, 1), "numbers of targets that differ"),
    "no starts": ("sources_starts", lambda a: a[:0], "sources and where they start"),
    "starts that descend": ("taxon_names_starts", lambda a: a[[0, 2, 1, *range(3, len(a))]], "taxon_names and where"),
    "a file that is not listed": ("target_source", lambda a: moved(a, 2, 1), "targets whose file is not listed"),
    "a file below 0": ("target_source", lambda a: moved(a, 2, -1), "targets whose file is not listed"),
    "a record below 0": ("target_record", lambda a: moved(a, 2, -1), "a target whose place"),
    "records missing": ("target_record", lambda a: a[:-1], "numbers of targets that differ"),
    "a taxon too high": ("target_taxon", lambda a: moved(a, 2, 21), "a target whose taxon does not exist"),
    "a taxon too low": ("target_taxon", lambda a: moved(a, 2, -2), "a target whose taxon does not exist"),
    "a length below 0": ("target_letters", lambda a: moved(a, 2, -1), "a target whose place"),
    "a length of too much": ("target_letters", lambda a: moved(a, 2, 1 << 62), "a target whose place"),
    "windows too many": ("target_windows", lambda a: moved(a, 0, 10), "a target whose windows do not go with its"),
    "a taxid of 0": ("taxids", lambda a: moved(a, 0, 0), "identifiers of taxa that do not ascend"),
    "the same taxid": ("taxids", lambda a: moved(a, 1, 1), "identifiers of taxa that do not ascend"),
    "a taxon too few": ("taxids", lambda a: a[:-1], "numbers of taxa that differ"),
    "a parent too high": ("parents", lambda a: moved(a, 3, 21), "a taxon whose parent does not exist"),
    "a parent too low": ("parents", lambda a: moved(a, 3, -1), "a taxon whose parent does not exist"),
    "two roots": ("parents", lambda a: moved(a, 3, 3), "taxa that are no tree with one root"),
    "no root": ("parents", lambda a: moved(a, 0, 1), "taxa that are no tree with one root"),
    "a circle": ("parents", lambda a: moved(moved(a, 2, 3), 3, 2), "taxa that are no tree with one root"),
    "a rank too high": ("ranks", lambda a: moved(a, 3, 21), "a taxon of an unknown rank"),
    "a rank too low": ("ranks", lambda a: moved(a, 3, -2), "a taxon of an unknown rank"),
    "merged into nothing": ("merged_from", lambda a: np.array([7, 7]), "merged taxa that are out of order"),
}


PLAIN_CHANGED: dict[str, tuple[str, Callable[[np.ndarray], np.ndarray], str]] = {
    "keys out of order": ("keys", lambda a: a[::-1], "features that are out of order"),
    "the same key": ("keys", lambda a: moved(a, 1, a[0]), "features that are out of order"),
    "a key too few": ("keys", lambda a: a[:-1], "numbers of features that differ"),
    "a count too high": ("counts", lambda a: moved(a, 0, 255), "a feature of more locations than a feature may have"),
    "a count too few": ("counts", lambda a: moved(a, 0, a[0] - 1), "a number of locations that is not that"),
    "counts of another type": ("counts", lambda a: a.astype(np.uint16), "has no section 'counts' of"),
    "locations missing": ("locations", lambda a: a[:-1], "a number of locations that is not that"),
    "a location too high": ("locations", lambda a: moved(a, 0, 1 << 30), "a location behind the last window"),
    "a location just too high": (
        "locations",
        lambda a: moved(a, int(a.argmax()), int(a.max()) + 1),
        "a location behind the last window",
    ),
    "locations out of order": ("locations", lambda a: a[::-1], "locations of a feature that are out of order"),
    "no room between locations": ("counts", lambda a: a[::-1], "locations of a feature that are out of order"),
}


@pytest.mark.parametrize("name", [*CHANGED, *PLAIN_CHANGED])
def test_contradictions(path: Path, name: str) -> None:
    kind = KIND if name in CHANGED else PLAIN_KIND
    write_as(path, edge_database(), kind.version)
    metadata, arrays = contents(path, kind)
    section, change, message = (CHANGED | PLAIN_CHANGED)[name]
    arrays[section] = change(arrays[section])
    write_arrays(path, kind, "1", metadata, arrays)
    refused(path, path.read_bytes(), message)


WIDTH = Widths.of(packed_database().features.numbers.alive, int(packed_database().targets.windows.sum())).location
HIGH = np.uint64((1 << WIDTH - 1) - 1 << WIDTH + 1)  # all bits of the window of the second location, the last of two

PACKED_CHANGED: dict[str, tuple[str, Callable[[np.ndarray], np.ndarray], str]] = {
    "places that descend": ("key_starts", lambda a: moved(a, 3, a[4] + 1), OUT_OF_PLACE),
    "a first place above 0": ("key_starts", lambda a: moved(a, 0, 1), OUT_OF_PLACE),
    "a last place too low": ("key_starts", lambda a: moved(a, -1, a[-1] - 1), OUT_OF_PLACE),
    "a last place too high": ("location_starts", lambda a: moved(a, -1, a[-1] + 1), OUT_OF_PLACE),
    "a place of locations too high": ("location_starts", lambda a: moved(a, 2, a[2] + 1), OUT_OF_PLACE),
    "a place above all": ("location_starts", lambda a: moved(a, 2, -1), OUT_OF_PLACE),
    "a key too few": ("keys", lambda a: a[:-1], "numbers of features that differ"),
    "a bucket too few": ("key_starts", lambda a: a[:-1], "numbers of features that differ"),
    "locations missing": ("locations", lambda a: a[:-1], "numbers of features that differ"),
    "a last location too many": ("locations", lambda a: moved(a, 0, a[0] ^ np.uint64(1)), OUT_OF_PLACE),
    "a window too high": (
        "locations",
        lambda a: moved(a, 0, a[0] | HIGH),
        "a location behind the last w",
    ),
    "the same keys": ("keys", np.zeros_like, "features that are out of order"),
    "a dead key too many": ("dead_keys", lambda a: np.append(a, a[-1:] + 1), "numbers of features that differ"),
    "dead keys that descend": ("dead_keys", lambda a: a[::-1], "features that are out of order"),
    "locations of another type": ("locations", lambda a: a.view(np.uint32), "has no section 'locations' of"),
}


@pytest.mark.parametrize("name", PACKED_CHANGED)
def test_contradictions_of_packed_features(path: Path, name: str) -> None:
    write_database(path, packed_database())
    metadata, arrays = contents(path, KIND)
    section, change, message = PACKED_CHANGED[name]
    arrays[section] = change(arrays[section])
    write_arrays(path, KIND, "1", metadata, arrays)
    refused(path, path.read_bytes(), message)


def test_a_key_that_is_alive_and_dead(path: Path) -> None:
    write_database(path, packed_database())
    metadata, arrays = contents(path, KIND)
    alive = packed_database().features
    arrays["dead_keys"][0] = alive.keys[alive.counts > 0][7]
    arrays["dead_keys"].sort()
    write_arrays(path, KIND, "1", metadata, arrays)
    refused(path, path.read_bytes(), "features that are out of order")


@pytest.mark.parametrize(
    ("name", "more", "message"),
    [
        ("alive", -1, OUT_OF_PLACE), ("dead", 1, "numbers of features that differ"),
        ("single", 1, "numbers of features other than its description says"),
        ("single", -(1 << 20), "numbers of features that do not go together"),
        ("largest", 1, "numbers of features other than its description says"),
        ("largest", -1, "a feature of more locations than a feature may have"),
        ("largest", 255, "a feature of more locations than a feature may have"),
        ("located", 64, "numbers of features that differ"),
    ],
)  # fmt: skip
def test_numbers_that_are_not_those_of_the_features(path: Path, name: str, more: int, message: str) -> None:
    write_database(path, packed_database())
    metadata, arrays = contents(path, KIND)
    metadata["features"][name] += more
    write_arrays(path, KIND, "1", metadata, arrays)
    refused(path, path.read_bytes(), message)


DESCRIBED = {
    "more": (lambda m: m | {"more": 1}, "more is not known here"),
    "no options": (lambda m: {"provenance": {}, "features": m["features"]}, "options is missing"),
    "no provenance": (lambda m: m | {"provenance": 1}, "provenance is not an object"),
    "no numbers": (lambda m: m.pop("features") and m, "features is missing"),
    "a number missing": (lambda m: (m["features"].pop("dead"), m)[1], "features.dead is missing"),
    "an option missing": (lambda m: m["options"].pop("max_locations") and m, "options.max_locations is missing"),
    "another option": (lambda m: m["options"].update(seed=1) or m, "options.seed is not known here"),
    "a text": (lambda m: m["options"].update(max_locations="254") or m, "options.max_locations is not a whole number"),
    "a truth": (lambda m: m["options"]["sketch"].update(kmerlen=True) or m, "options.sketch.kmerlen is not a whole"),
    "too long": (lambda m: m["options"]["sketch"].update(kmerlen=17) or m, "was built with options that this program"),
    "no rank": (lambda m: m["options"].update(remove_ambiguous="x") or m, "was built with options that this program"),
    "no format": (lambda m: m["options"].update(sequence_id_format="x") or m, "was built with options that this"),
}


@pytest.mark.parametrize("name", DESCRIBED)
def test_descriptions(path: Path, name: str) -> None:
    write_database(path, edge_database())
    metadata, arrays = contents(path, KIND)
    change, message = DESCRIBED[name]
    write_arrays(path, KIND, "1", change(metadata), arrays)
    refused(path, path.read_bytes(), message)


def test_what_contradicts_itself_is_not_written(path: Path) -> None:
    database = random_database(4)
    with pytest.raises(ValueError, match="the database has features that are out of order"):
        write_database(path, replace(database, features=replace(database.features, keys=database.features.keys[::-1])))
    assert not path.exists()


@pytest.mark.parametrize(("targets", "letters"), [(300, 1 << 31), (2, 1 << 47)])
def test_windows_have_numbers_of_32_bits(path: Path, targets: int, letters: int) -> None:
    database = random_database(1, targets, features=0)
    lengths = np.full(targets, letters)
    windows = count_windows(lengths, database.options.sketch)
    database = replace(database, targets=replace(database.targets, letters=lengths, windows=windows))
    with pytest.raises(ValueError, match="the database has more than 4,294,967,295 windows"):
        write_database(path, database)


def test_lists_are_checked_over_the_borders_of_blocks(monkeypatch: pytest.MonkeyPatch, path: Path) -> None:
    for module in ("database", "file"):
        monkeypatch.setattr(f"oclgenomics.classify.database.{module}.BLOCK", 3)
    database = edge_database()
    write_as(path, database, PLAIN)
    metadata, arrays = contents(path, PLAIN_KIND)
    starts = np.append(0, np.cumsum(arrays["counts"], dtype=np.int64))
    for feature in np.flatnonzero(arrays["counts"] > 1)[:9]:
        bad = arrays["locations"].copy()
        bad[starts[feature] + 1] = bad[starts[feature]]
        write_arrays(path, PLAIN_KIND, "1", metadata, arrays | {"locations": bad})
        refused(path, path.read_bytes(), "locations of a feature that are out of order")
        changed = replace(database, features=replace(database.features, locations=bad))
        assert find_fault(changed) == "locations of a feature that are out of order"
    for feature in range(1, 10):
        bad = arrays["keys"].copy()
        bad[feature] = bad[feature - 1]
        write_arrays(path, PLAIN_KIND, "1", metadata, arrays | {"keys": bad})
        refused(path, path.read_bytes(), "features that are out of order")
        assert find_fault(replace(database, features=replace(database.features, keys=bad))) == (
            "features that are out of order"
        )


def test_as_many_windows_as_there_are_numbers_for(monkeypatch: pytest.MonkeyPatch) -> None:
    database = edge_database()
    windows = int(database.targets.windows.sum())
    monkeypatch.setattr("oclgenomics.classify.database.database.MAX_WINDOWS", windows)
    assert find_fault(database) is None
    monkeypatch.setattr("oclgenomics.classify.database.database.MAX_WINDOWS", windows - 1)
    assert find_fault(database) == f"more than {windows - 1:,} windows"


PAGE = FormatPage("classify-format.md")


def test_the_example(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(file, "__version__", "0.1.0")
    write_database(tmp_path / "x", example_database())
    assert (tmp_path / "x").read_bytes() == PAGE.example()


def test_features_of_taxa(path: Path) -> None:
    database = viral_database()
    write_database(path, database)
    known = read_database(path).known
    assert known is not None
    lineages = Lineages.of(database.taxonomy, database.targets)
    assert known.tolist() == known_features(database.features, lineages).tolist()
    arrays = file.packed_arrays(database)
    write_database(path, replace(database, known=2 * known))  # what was counted before is not counted again
    assert_same(read_database(path).known, 2 * known)
    del arrays["clade_features"]  # as the first files of this version
    write_arrays(path, KIND, "0.1.0", file.described(database), arrays)
    assert read_database(path).known is None
    for wrong, what in (
        (known[1:], "that differ from the number of taxa and targets"),
        (np.full(len(known), -1), "that do not go together"),
        (np.append(known[:-1], known.max() + 1), "that do not go together"),
    ):
        write_arrays(path, KIND, "0.1.0", file.described(database), {**arrays, "clade_features": wrong})
        with pytest.raises(InputError, match=f"numbers of features of taxa {what}"):
            read_database(path)


def test_a_file_of_version_2(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    old = Path(__file__).parents[2] / "data" / "array_files" / "classify-2.db"
    found = read_database(old)
    assert_same(found, example_database())
    write_as(path, found, SUMMED_WHOLE)
    assert path.read_bytes() == old.read_bytes()
    assert old.read_bytes()[8] == 2


def test_the_page_tells_all_sections_and_ranks(tmp_path: Path) -> None:
    (tmp_path / "x").write_bytes(PAGE.example())
    with ArrayFile(tmp_path / "x", KIND) as array_file:
        assert all(f"`{name}`" in PAGE.text for name in array_file.sections)
    assert ", ".join(RANKS) in " ".join(PAGE.text.split())


def test_the_program(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    monkeypatch.chdir(tmp_path)
    shown = PAGE.run_program()
    assert capsys.readouterr().out == shown
