"""Databases merged into one."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from unittest import mock

import numpy as np
import pytest
from helpers.classified import DATA

from oclgenomics.classify import (
    BuildOptions,
    Database,
    SketchOptions,
    add,
    build,
    merge_databases,
    read_database,
    write_database,
)
from oclgenomics.cli.main import main
from oclgenomics.errors import InputError, UsageError
from oclgenomics.runtime import Device, Engine

TAXONOMY = DATA / "edge"


def same(one: Database, other: Database, folder: Path) -> bool:
    for name, database in (("one", one), ("other", other)):
        write_database(folder / name, replace(database, provenance={}))
    return (folder / "one").read_bytes() == (folder / "other").read_bytes()


LENGTHS = SketchOptions(8, 4, 40)


@pytest.mark.parametrize(
    "options",
    [BuildOptions(LENGTHS, most, over) for most in (1, 3, 254) for over in (False, True)]
    + [BuildOptions(LENGTHS, 300), BuildOptions()],
)
def test_merged_databases_are_one_with_added_references(engine: Engine, tmp_path: Path, options: BuildOptions) -> None:
    rng = np.random.default_rng(4)
    ancestor = rng.choice(np.frombuffer(b"ACGT", np.uint8), 600)
    files = []
    for number in range(5):
        letters = ancestor.copy()
        changed = rng.random(len(letters)) < 0.02
        letters[changed] = ord("A")
        files.append(tmp_path / f"{number}.fa")
        files[-1].write_bytes(b">SAME_000001.1 taxid|%d\n%b\n" % ((501, 510)[number % 2], letters.tobytes()))
    parts = [build(some, options, taxonomy=TAXONOMY, engine=engine) for some in (files[:2], files[2:3], files[3:])]
    at_once = parts[0]
    for some in (files[2:3], files[3:]):
        at_once = add(at_once, some, taxonomy=TAXONOMY, engine=engine)
    assert same(merge_databases(parts), at_once, tmp_path)
    assert merge_databases(parts[:1]) is parts[0]
    with pytest.raises(InputError, match="is in the database already"):
        merge_databases([parts[0], parts[0]])


def test_databases_that_cannot_be_merged(engine: Engine, tmp_path: Path) -> None:
    rng = np.random.default_rng(4)
    letters = rng.choice(np.frombuffer(b"ACGT", np.uint8), 300).tobytes()
    for name, taxid in (("a", 501), ("b", 501), ("c", 510)):
        (tmp_path / name).write_bytes(b">%b taxid|%d\n%b\n" % (name.encode(), taxid, letters))
    ambiguous = BuildOptions(remove_ambiguous="species")
    one = build([tmp_path / "a"], ambiguous, taxonomy=TAXONOMY, engine=engine)
    two = build([tmp_path / "b", tmp_path / "c"], ambiguous, taxonomy=TAXONOMY, engine=engine)
    with pytest.raises(UsageError, match="removed as ambiguous from a database of which one before it has locations"):
        merge_databases([one, two])
    assert not len(merge_databases([two, one]).features.locations)
    with pytest.raises(UsageError, match="other options cannot be merged: remove_ambiguous is species and None"):
        merge_databases([one, build([tmp_path / "b"], taxonomy=TAXONOMY, engine=engine)])


def test_databases_on_the_command_line(device: Device, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    common = ["--taxonomy", str(TAXONOMY), "-d", str(device.index), "-q"]
    for name in "ab":
        (tmp_path / name).write_bytes(b">%b1 taxid|501\n%b\n" % (name.encode(), b"ACGTTGCATTACG" * 20))
        assert main(["classify", "build", f"{tmp_path}/{name}.db", f"{tmp_path}/{name}", *common]) == 0
    parts = [f"{tmp_path}/a.db", f"{tmp_path}/b.db"]
    assert main(["classify", "merge", *parts, "-o", f"{tmp_path}/both.db"]) == 0
    assert "2 targets" in capsys.readouterr().err
    assert len(read_database(tmp_path / "both.db").targets) == 2
    with mock.patch("oclgenomics.classify.database.file.known_features", None):  # the device counts
        words = ["-o", f"{tmp_path}/device.db", "-d", str(device.index), "-q"]
        assert main(["classify", "merge", *parts, *words]) == 0
    host, on_device = (read_database(tmp_path / name) for name in ("both.db", "device.db"))
    assert same(on_device, host, tmp_path)
    assert main(["classify", "merge", f"{tmp_path}/a", "--taxonomy", str(TAXONOMY), "-d", "cpu"]) == 2
    assert "--device is for databases" in capsys.readouterr().err
    assert main(["classify", "merge", *parts]) == 2
    assert "name a file for the database with -o" in capsys.readouterr().err
    assert main(["classify", "merge", parts[0], f"{tmp_path}/a", "-o", f"{tmp_path}/x"]) == 2
    assert "is a database, and others are not" in capsys.readouterr().err
