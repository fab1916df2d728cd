"""Builds in pieces: they give the database of one build, whatever the cut, the options and the taxonomy."""

from __future__ import annotations

import re
import shutil
from collections.abc import Iterator
from concurrent.futures import Executor, ProcessPoolExecutor, ThreadPoolExecutor
from contextlib import ExitStack
from dataclasses import fields, replace
from multiprocessing import get_context
from pathlib import Path
from typing import Any
from unittest import mock

import pytest
from helpers.classify_builds import assert_equal, references, write_references, write_taxonomy
from helpers.classify_databases import EDGE, VIRAL
from helpers.products import examples, only_whole
from hypothesis import HealthCheck, given, settings, strategies as st

from oclgenomics.app.jobs import Spread, make_piece, pieces_of
from oclgenomics.app.pieces import InputMark, PieceRecord, Shard, in_order
from oclgenomics.classify import BuildJob, BuildOptions, Database, SketchOptions, build, read_database, write_database
from oclgenomics.classify.database.references import NewTargets, TaxonSources, reference_files
from oclgenomics.classify.device import building
from oclgenomics.classify.device.building import read_references
from oclgenomics.cli.main import main
from oclgenomics.errors import InputError
from oclgenomics.runtime import Device, Engine

SMALL = SketchOptions(kmerlen=8, sketchlen=4, winlen=24)
FLIPPED: dict[str, Any] = {
    "kmerlen": 9, "sketchlen": 5, "winlen": 90, "winstride": 3, "min_triplets": 1, "soft_masked": True,
    "max_locations": 7, "remove_overpopulated": True, "remove_ambiguous": "genus", "max_ambiguous": 2,
    "sequence_id_format": "gi",
}  # fmt: skip
SUMMARY = "#assembly_accession\ttaxid\nGCF_000000001.1\t5\n"
options_of = st.builds(
    BuildOptions,
    st.just(SMALL),
    st.integers(1, 12),
    st.booleans(),
    st.sampled_from([None, "sequence", "species", "genus"]),
    st.integers(1, 3),
)


@pytest.fixture(scope="module")
def threads() -> Iterator[Executor]:
    with ThreadPoolExecutor(1) as pool:
        yield pool


def stored(database: Database, path: Path) -> bytes:
    """The bytes of a database without what made it."""
    write_database(path, replace(database, provenance={}))
    return path.read_bytes()


@settings(suppress_health_check=list(HealthCheck), max_examples=examples(25))
@given(references(), options_of, st.integers(1, 7), st.integers(1, 9))
def test_any_references_in_any_pieces(
    device: Device,
    threads: Executor,
    tmp_path_factory: pytest.TempPathFactory,
    files: list[list[tuple[int, bytes]]],
    options: BuildOptions,
    of: int,
    at_a_time: int,
) -> None:
    folder = tmp_path_factory.mktemp("references")
    paths, taxonomy = write_references(folder, files), write_taxonomy(folder)
    try:
        one = build(paths, options, taxonomy=taxonomy, engine=device)
    except InputError as error:  # nothing in any of them
        with pytest.raises(InputError, match=f"^{re.escape(str(error))}$"):
            build(paths, options, taxonomy=taxonomy, executor=Spread(threads, of, device=f"{device.index}"))
        return
    with mock.patch.multiple("oclgenomics.classify.jobs", FEATURES=at_a_time, LOCATIONS=2 * at_a_time):
        many = build(paths, options, taxonomy=taxonomy, executor=Spread(threads, of, device=f"{device.index}"))
    assert_equal(many, one)
    assert stored(many, folder / "many") == stored(one, folder / "one")


@pytest.fixture(scope="module")
def built(device: Device, tmp_path_factory: pytest.TempPathFactory) -> tuple[Database, list[str]]:
    """What the whole command builds, with a taxonomy, limits and a manifest, and its words.

    There are assembly summaries in the folder of the targets.
    """
    folder = tmp_path_factory.mktemp("built")
    (folder / "ref").mkdir()
    for path in (VIRAL / "ref").glob("h*_p*"):  # of influenza A, whose strains have much in common
        shutil.copy(path, folder / "ref")
    for name in ("bdbv", "ebov", "sudv"):
        shutil.copy(VIRAL / "ref" / f"{name}.fna", folder / "ref")
    (folder / "ref" / "assembly_summary.txt").write_text(SUMMARY)
    words = [f"{folder}/ref", "--taxonomy", f"{VIRAL}/tax", "--max-locations-per-feature", "3", "--manifest"]
    words += ["--remove-ambig-features", "species", "--max-ambig-per-feature", "2", "--remove-overpopulated-features"]
    words += ["-q", "-d", f"{device.index}"]
    assert main(["classify", "build", f"{folder}/one", *words]) == 0
    return read_database(folder / "one"), words


@pytest.mark.parametrize("of", [1, 3, 14, *only_whole(2, 5, 7, 90)])
def test_commands(device: Device, built: tuple[Database, list[str]], of: int, tmp_path: Path) -> None:
    one, words = built
    assert one.features.counts.max() > 1
    assert not one.features.counts.all()  # some are removed
    pieces = [f"{tmp_path}/{number}.piece" for number in range(1, of + 1)]
    for number, piece in enumerate(pieces, 1):
        assert main(["classify", "build", piece, *words, "--shard", f"{number}/{of}"]) == 0
    assert not (tmp_path / "1.piece.sha256").exists()
    assert main(["classify", "combine", *pieces[::-1], "-o", f"{tmp_path}/many", "-q"]) == 0
    many = read_database(tmp_path / "many")
    assert stored(many, tmp_path / "a") == stored(one, tmp_path / "b")
    assert (tmp_path / "many.sha256").exists()
    assert many.provenance["pieces"] == [f"{number}/{of} on {device.name}" for number in range(1, of + 1)]


def test_a_device_packs_and_counts_the_features_of_pieces(device: Device, tmp_path: Path) -> None:
    words, where = [f"{VIRAL}/ref", "--taxonomy", f"{VIRAL}/tax", "-q"], ["-d", f"{device.index}"]
    pieces = [f"{tmp_path}/{number}.piece" for number in (1, 2)]
    for number, piece in enumerate(pieces, 1):
        assert main(["classify", "build", piece, *words, *where, "--shard", f"{number}/2"]) == 0
    assert main(["classify", "combine", *pieces, "-o", f"{tmp_path}/host", "-q"]) == 0
    host_alone = ("file.known_features", "packing.HostPacker")
    with ExitStack() as stack:
        for name in host_alone:
            stack.enter_context(mock.patch(f"oclgenomics.classify.database.{name}", None))
        assert main(["classify", "combine", *pieces, "-o", f"{tmp_path}/device", "-q", *where]) == 0
    host, on_device = (read_database(tmp_path / name) for name in ("host", "device"))
    assert on_device.known is not None
    assert stored(on_device, tmp_path / "a") == stored(host, tmp_path / "b")


def test_processes(device: Device, tmp_path: Path) -> None:
    one = build(EDGE / "edge_ref.fna", taxonomy=EDGE, engine=device)
    with ProcessPoolExecutor(1, get_context("spawn")) as pool:
        spread = Spread(pool, 3, device=f"{device.index}", max_memory=1 << 30)
        many = build(EDGE / "edge_ref.fna", taxonomy=EDGE, executor=spread)
    assert_equal(many, one)


def test_records_of_a_file_that_was_cut(engine: Engine, tmp_path: Path) -> None:
    (tmp_path / "b.fna").write_text(">x\nACGTACGTAC\n")
    files = [str(EDGE / "edge_ref.fna"), str(tmp_path / "b.fna")]
    whole, _ = read_references(engine, files, BuildOptions(), building.Run())
    parts = []
    job = BuildJob(tuple(files), BuildOptions(), TaxonSources())
    for number in range(1, 6):
        first, *_ = job.parts(engine, building.Run(), Shard(number, 5))
        parts.append(first.targets)  # type: ignore[union-attr]
    joined = NewTargets.joined(parts)
    assert sum(map(bool, (part.sources for part in parts))) > 2
    assert (joined.ids, joined.sources) == (whole.ids, whole.sources)
    for name in ("taxids", "source", "record", "letters", "windows"):
        assert getattr(joined, name).tolist() == getattr(whole, name).tolist()


def test_all_that_matters_is_compared(tmp_path: Path) -> None:
    files = write_references(tmp_path, [[(2, b"ACGT" * 30)], [(3, b"GGCA" * 30)]])
    options = BuildOptions(SketchOptions(min_triplets=3))
    job = BuildJob(tuple(map(str, files)), options, TaxonSources(write_taxonomy(tmp_path)))
    names = {field.name for kind in (BuildOptions, SketchOptions) for field in fields(kind)} - {"sketch"}
    assert names == FLIPPED.keys()

    def record(number: int, job: BuildJob) -> tuple[str, PieceRecord]:
        marks = tuple(InputMark.of(name) for name in job.inputs())
        return f"{number}", PieceRecord(job.NAME, "1", Shard(number, 2), job.parameters(), marks, {}, {})

    assert in_order([record(2, job), record(1, replace(job))]) == [1, 0]
    others = [
        replace(job, references=job.references[:1]),
        replace(job, taxa=TaxonSources()),
        replace(job, taxa=TaxonSources(tmp_path, (files[0],))),
        replace(job, taxa=TaxonSources(tmp_path, reset=True)),
        replace(job, taxa=TaxonSources(EDGE)),
    ]
    for name, value in FLIPPED.items():
        flipped = {name: value}
        if hasattr(job.options.sketch, name):
            flipped = {"sketch": replace(job.options.sketch, **flipped)}
        others.append(replace(job, options=replace(job.options, **flipped)))
    for other in others:
        with pytest.raises(InputError, match="combine pieces of one command"):
            in_order([record(1, job), record(2, other)])


def test_taxa_are_looked_up_in_the_same_files(device: Device, tmp_path: Path) -> None:
    files = [str(path) for path in write_references(tmp_path, [[(2, b"ACGTTGCATTAGC" * 30)]])]
    (tmp_path / "tax").mkdir()
    (tmp_path / "assembly_summary.txt").write_text(SUMMARY)
    job = BuildJob(tuple(reference_files(files)), BuildOptions(), TaxonSources(write_taxonomy(tmp_path / "tax")))
    piece = f"{tmp_path}/piece"
    for name in ("assembly_summary.txt", "tax/nodes.dmp"):
        make_piece(job, Shard(1, 1), piece, device=f"{device.index}")
        assert len(list(job.combined(pieces_of([piece])))) == 2
        with (tmp_path / name).open("a") as file:
            file.write("\n")
        with pytest.raises(InputError, match=r"is not the file that .*/piece was made with, or has changed since"):
            list(job.combined(pieces_of([piece])))


def test_too_many_windows_of_all_pieces(device: Device, threads: Executor, tmp_path: Path) -> None:
    paths = write_references(tmp_path, [[(2, b"ACGTTGCATTAGC" * 30)], [(3, b"GGCATTAAACC" * 30)]])
    with mock.patch.object(building, "MAX_WINDOWS", 8):
        with pytest.raises(InputError, match=r"with it there are more than 8 windows"):
            build(paths, engine=device)
        with pytest.raises(InputError, match=r"001\.fna: with it there are more than 8 windows"):
            build(paths, executor=Spread(threads, 2, device=f"{device.index}"))


@pytest.mark.parametrize(
    ("early", "late", "message"),
    [
        (["--taxpostmap", "r.fa"], [], "--taxpostmap maps accessions to taxa, so it needs a --taxonomy"),
        (["--remove-ambig-features", "genus"], [], "--remove-ambig-features counts taxa, so it needs a --taxonomy"),
        ([], [], "name the file of the database with -o"),
        ([], ["-o", "out", "--kreport", "k"], "--kreport: `classify build` has no such option"),
        ([], ["-o", "out", "--format", "tsv"], "--format: `classify build` has no such option"),
        ([], ["-o", "r.fa"], "the same file as the input"),
        ([], ["piece", "-o", "out"], "is piece 1/1, as piece is; give each piece once"),
    ],
)  # fmt: skip
def test_what_is_refused(
    device: Device, early: list[str], late: list[str], message: str, tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str],
) -> None:  # fmt: skip
    monkeypatch.chdir(tmp_path)
    Path("r.fa").write_bytes((EDGE / "edge_ref.fna").read_bytes())
    status = main(["classify", "build", "piece", "r.fa", "--shard", "1/1", "-d", f"{device.index}", *early])
    if not status:
        status = main(["classify", "combine", "piece", *late])
    assert status in (2, 3)
    assert message in capsys.readouterr().err
    assert not Path("out").exists()


def test_pieces_of_a_query_are_no_pieces_of_a_build(
    device: Device, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    words = ["-q", "-d", f"{device.index}"]
    one, two, db = (f"{tmp_path}/{name}" for name in ("one", "two", "db"))
    assert main(["classify", "build", db, f"{EDGE}/edge_ref.fna", *words]) == 0
    assert main(["classify", "build", one, f"{EDGE}/edge_ref.fna", "--shard", "1/2", *words]) == 0
    assert main(["classify", "query", db, f"{EDGE}/edge_reads.fa", "--shard", "2/2", "-o", two, *words]) == 0
    assert main(["classify", "combine", one, two, "-o", f"{tmp_path}/out", "-q"]) == 3
    assert "is of the job classify query, and" in capsys.readouterr().err
    assert main(["classify", "query", db, f"{EDGE}/edge_reads.fa", "--shard", "1/1", "-o", two, *words]) == 0
    assert main(["classify", "combine", two, "-o", f"{tmp_path}/out", "--manifest", "-q"]) == 2
    assert "--manifest: `classify query` has no such option" in capsys.readouterr().err
