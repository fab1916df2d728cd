"""`oclgenomics classify build` and `add`, from the command line to the database."""

from __future__ import annotations

import hashlib
import importlib
import shutil
import signal
import subprocess
import sys
from pathlib import Path

import pytest
from helpers.classify_builds import assert_equal
from helpers.classify_databases import EDGE
from helpers.products import only_whole

from oclgenomics.classify.api import add, build
from oclgenomics.classify.database.file import read_database
from oclgenomics.classify.database.manifest import check_manifest
from oclgenomics.classify.options import BuildOptions, SketchOptions
from oclgenomics.cli.main import main
from oclgenomics.runtime import Device, Engine

classify_build = importlib.import_module("oclgenomics.classify.api")  # the package offers the verb by this name
PROGRAM = [sys.executable, "-m", "oclgenomics"]


@pytest.fixture
def edge(tmp_path: Path) -> Path:
    """The references of the edge cases, in two files."""
    records = (EDGE / "edge_ref.fna").read_text().split(">")[1:]
    for name, part in (("a.fna", records[:9]), ("b.fna", records[9:])):
        (tmp_path / name).write_text("".join(f">{record}" for record in part))
    return tmp_path


def run(device: Device, *words: object) -> int:
    return main(["classify", *map(str, words), "-d", str(device.index)])


@pytest.mark.parametrize(
    ("words", "options"),
    [
        ([], BuildOptions()),
        (
            ["--kmerlen", 12, "--sketchlen", 8, "--winlen", 64, "--winstride", 40],
            BuildOptions(SketchOptions(12, 8, 64, 40)),
        ),
        (
            ["--max-locations-per-feature", 3, "--remove-overpopulated-features"],
            BuildOptions(max_locations=3, remove_overpopulated=True),
        ),
        (
            ["--remove-ambig-features", "species", "--max-ambig-per-feature", 2],
            BuildOptions(remove_ambiguous="species", max_ambiguous=2),
        ),
        (["--sequence-id-format", "leadingword"], BuildOptions(sequence_id_format="leadingword")),
    ],
)
def test_options(engine: Engine, device: Device, edge: Path, words: list[object], options: BuildOptions) -> None:
    assert run(device, "build", edge / "x.db", edge, "--taxonomy", EDGE, *words) == 0
    wanted = build([edge / "a.fna", edge / "b.fna"], options, taxonomy=EDGE, engine=engine)
    assert_equal(read_database(edge / "x.db"), wanted)


def test_summary(device: Device, edge: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert run(device, "build", edge / "x.db", edge / "a.fna") == 0
    told = capsys.readouterr()
    assert not told.out
    assert "9 targets, " in told.err
    assert f"wrote {edge / 'x.db'}" in told.err
    assert "no taxon" not in told.err  # nobody asked for any
    assert run(device, "build", edge / "y.db", edge / "a.fna", "-q") == 0
    assert not capsys.readouterr().err


def test_removed_features_are_counted(device: Device, edge: Path, capsys: pytest.CaptureFixture[str]) -> None:
    words = ("--max-locations-per-feature", 3, "--remove-overpopulated-features", "--winlen", 127, "--min-triplets", 0)
    assert run(device, "build", edge / "x.db", edge, *words) == 0
    assert "left out: 137 features in too many places" in capsys.readouterr().err
    words = ("--remove-overpopulated-features", "--max-locations-per-feature", 1)
    assert run(device, "build", edge / "x.db", edge, *words) == 0
    assert "warning: all features were removed" in capsys.readouterr().err


def test_targets_without_a_taxon_are_listed(device: Device, edge: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (edge / "c.fna").write_text("".join(f">YY_{number:06}.1\n{'ACGGT' * 30}\n" for number in range(7)))
    assert run(device, "build", edge / "x.db", edge, "--taxonomy", EDGE) == 0
    told = capsys.readouterr().err
    assert "warning: 7 of 24 targets have no taxon: YY_000000.1, YY_000001.1, " in told
    assert "YY_000004.1, ...\n" in told


def test_adding(device: Device, edge: Path, capsys: pytest.CaptureFixture[str]) -> None:
    database = edge / "x.db"
    assert run(device, "build", edge / "all.db", edge, "--taxonomy", EDGE) == 0
    assert run(device, "build", database, edge / "a.fna", "--taxonomy", EDGE) == 0
    before = database.read_bytes()
    assert run(device, "add", database, edge / "b.fna", "--taxonomy", EDGE, "-o", edge / "new.db") == 0
    assert database.read_bytes() == before
    assert run(device, "add", database, edge / "b.fna", "--taxonomy", EDGE) == 0
    wanted = read_database(edge / "all.db")
    for name in ("x.db", "new.db"):
        assert_equal(read_database(edge / name), wanted)
    assert read_database(database).provenance["before"]["program"] == "oclgenomics"
    capsys.readouterr()
    before = database.read_bytes()
    assert run(device, "add", database, edge / "b.fna", "--taxonomy", EDGE) == 3
    assert capsys.readouterr().err.count("is in the database already") == 1
    assert database.read_bytes() == before


def test_two_do_not_add_at_once(
    device: Device, edge: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """Else both would end well, and what the first one added be lost."""
    database = edge / "x.db"
    assert run(device, "build", database, edge / "a.fna", "--taxonomy", EDGE) == 0
    before = database.read_bytes()
    capsys.readouterr()
    codes = []

    def add_meanwhile(*args: object, **options: object) -> object:
        monkeypatch.setattr(classify_build, "add", add)
        words = ("add", database, edge / "b.fna", "--taxonomy", EDGE)
        codes.extend([run(device, *words), run(device, *words, "-o", edge / "y.db")])
        return add(*args, **options)  # type: ignore[arg-type]

    monkeypatch.setattr(classify_build, "add", add_meanwhile)
    assert run(device, "add", database, edge / "b.fna", "--taxonomy", EDGE) == 0
    assert codes == [5, 0]
    assert "x.db: another `classify add` is at work on it; wait" in capsys.readouterr().err
    assert_equal(read_database(database), read_database(edge / "y.db"))

    def replace_meanwhile(*args: object, **options: object) -> object:
        shutil.copy(edge / "y.db", edge / "z.db")
        (edge / "z.db").replace(database)
        return add(*args, **options)  # type: ignore[arg-type]

    database.write_bytes(before)
    monkeypatch.setattr(classify_build, "add", replace_meanwhile)
    assert run(device, "add", database, edge / "b.fna", "--taxonomy", EDGE) == 5
    assert "x.db: was replaced while references were added" in capsys.readouterr().err
    assert database.read_bytes() == (edge / "y.db").read_bytes()


def test_manifests(device: Device, edge: Path, capsys: pytest.CaptureFixture[str]) -> None:
    database, manifest = edge / "x.db", edge / "x.db.sha256"
    assert run(device, "build", database, edge / "a.fna") == 0
    assert not manifest.exists()
    assert run(device, "add", database, edge / "b.fna", "-o", edge / "y.db", "--manifest") == 0
    assert check_manifest(edge / "y.db") == hashlib.sha256((edge / "y.db").read_bytes()).hexdigest()
    assert run(device, "build", database, edge / "a.fna", "--manifest") == 0
    before = check_manifest(database)
    assert run(device, "add", database, edge / "b.fna") == 0
    assert check_manifest(database) != before
    (edge / "z.db.sha256").write_text(">x\nACGT\n")
    capsys.readouterr()
    words = ("build", edge / "z.db", edge / "z.db.sha256", "--manifest")
    assert run(device, *words) == 2
    assert "z.db.sha256: the same file as the input" in capsys.readouterr().err
    assert (edge / "z.db.sha256").read_text() == ">x\nACGT\n"


def test_a_reference_is_not_written_over(device: Device, edge: Path, capsys: pytest.CaptureFixture[str]) -> None:
    known = (edge / "a.fna").read_bytes()
    for words in (("build", edge / "a.fna", edge), ("add", edge / "a.fna", edge / "a.fna")):
        assert run(device, *words) == 2
        assert "the same file as" in capsys.readouterr().err
    assert run(device, "build", edge / "x.db", edge / "a.fna") == 0
    assert run(device, "build", edge / "x.db", edge) == 0  # a database may lie beside the references
    shutil.copytree(EDGE, edge / "tax")
    assert run(device, "build", edge / "tax" / "nodes.dmp", edge / "a.fna", "--taxonomy", edge / "tax") == 2
    assert (edge / "a.fna").read_bytes() == known


@pytest.mark.parametrize(
    ("words", "status", "message"),
    [
        (["--kmerlen", "17"], 2, "--kmerlen 17"),
        (["--winstride", "200"], 2, "--winstride 200"),
        (["--max-locations-per-feature", "0"], 2, "--max-locations-per-feature 0"),
        (["--remove-ambig-features", "kind"], 2, "--remove-ambig-features kind"),
        (["--sequence-id-format", "x"], 2, "--sequence-id-format x"),
        (["--threads", "0"], 2, "--threads 0"),
        (["--taxpostmap", "map"], 2, "--taxpostmap maps accessions"),
        (["--reset-taxa"], 2, "--reset-taxa prefers some taxa to others, so it needs a --taxonomy"),
        (["--remove-ambig-features", "genus"], 2, "--remove-ambig-features counts taxa, so it needs a --taxonomy"),
        (["--max-ambig-per-feature", "2"], 2, "--max-ambig-per-feature needs --remove-ambig-features"),
        (["--taxonomy", "nowhere"], 3, "nowhere"),
        (["--max-memory", "1M"], 4, "--max-memory"),
    ],
)
def test_bad_options(
    device: Device, edge: Path, capsys: pytest.CaptureFixture[str], words: list[str], status: int, message: str
) -> None:
    assert run(device, "build", edge / "x.db", edge / "a.fna", *words) == status
    told = capsys.readouterr().err.splitlines()[-1]
    assert message in told
    assert not (edge / "x.db").exists()


@pytest.mark.parametrize(
    ("number", "status"), [(signal.SIGTERM, 143), (signal.SIGKILL, -9), *only_whole((signal.SIGINT, 130))]
)
def test_signals_leave_nothing(device: Device, edge: Path, number: int, status: int) -> None:
    """The process has read one file and waits for more input, of which there is none."""
    before = {path.name for path in edge.iterdir()}
    command = [*PROGRAM, "classify", "build", edge / "x.db", "-", edge / "a.fna", "-d", str(device.index)]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stderr=subprocess.PIPE, text=True) as process:
        assert process.stderr is not None
        assert "device" in process.stderr.readline()
        process.send_signal(number)
        told = process.stderr.read()
        assert process.wait(60) == status, told
    assert "Traceback" not in told
    assert {path.name for path in edge.iterdir()} == before
