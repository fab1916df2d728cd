"""Databases of references: against MetaCache's and the oracle, whatever the order, the device and the memory."""

from __future__ import annotations

import gzip
import shutil
from pathlib import Path
from unittest import mock

import numpy as np
import pytest
from helpers.classify_builds import (
    BUILDS,
    assert_equal,
    in_parts,
    locations_of,
    references,
    write_references,
    write_taxonomy,
)
from helpers.classify_databases import EDGE, VIRAL, edge_database, golden_features, viral_database
from helpers.products import examples
from hypothesis import HealthCheck, given, settings, strategies as st

from oclgenomics.app.run import Run
from oclgenomics.classify.api import add, build
from oclgenomics.classify.database.database import find_fault
from oclgenomics.classify.database.references import reference_files
from oclgenomics.classify.options import METACACHE_BUILD, METACACHE_SKETCH, BuildOptions, SketchOptions
from oclgenomics.classify.plan import plan_build
from oclgenomics.classify.reference import build_features
from oclgenomics.classify.taxonomy.tree import NO_TAXON
from oclgenomics.errors import AllocationError, InputError, UsageError
from oclgenomics.runtime import Device, Engine

EDGE_REFERENCES = EDGE / "edge_ref.fna"
GOLDEN = {
    "edge.features.txt": METACACHE_BUILD,
    "edge.k12s8w64st40.features.txt": BuildOptions(SketchOptions(12, 8, 64, 40, 0)),
    "edge.maxloc3.features.txt": BuildOptions(METACACHE_SKETCH, max_locations=3),
    "edge.maxloc3.removeoverpop.features.txt": BuildOptions(
        METACACHE_SKETCH, max_locations=3, remove_overpopulated=True
    ),
    "edge.removeambig.species2.features.txt": BuildOptions(
        METACACHE_SKETCH, remove_ambiguous="species", max_ambiguous=2
    ),
}
BASES = np.frombuffer(b"ACGT", np.uint8)
SMALL = SketchOptions(kmerlen=8, sketchlen=4, winlen=24)
slow = settings(suppress_health_check=list(HealthCheck), max_examples=examples(15))


def bases(size: int, seed: int) -> bytes:
    return np.random.default_rng(seed).choice(BASES, size).tobytes()


@pytest.mark.parametrize("name", GOLDEN)
def test_edge_cases_are_those_of_metacache(shaped: Engine, name: str) -> None:
    database = build(EDGE_REFERENCES, GOLDEN[name], taxonomy=EDGE, engine=shaped)
    found = {feature: places for feature, places in locations_of(database).items() if places}
    assert found == golden_features((EDGE / name).read_text())
    assert find_fault(database) is None


def test_viruses_are_those_of_metacache(shaped: Engine) -> None:
    database = build(VIRAL / "ref", METACACHE_BUILD, taxonomy=VIRAL / "tax", engine=shaped)
    known = viral_database()
    assert len(database.features) == 97_082
    for name in ("keys", "counts", "locations"):
        np.testing.assert_array_equal(getattr(database.features, name), getattr(known.features, name))
    assert database.targets.names == known.targets.names
    for name in ("letters", "windows"):
        np.testing.assert_array_equal(getattr(database.targets, name), getattr(known.targets, name))


def test_targets_of_edge_cases(engine: Engine) -> None:
    found = build(EDGE_REFERENCES, METACACHE_BUILD, taxonomy=EDGE, engine=engine)
    known = edge_database()
    assert found.targets.names == known.targets.names
    assert found.targets.sources == (str(EDGE_REFERENCES),)
    for name in ("record", "source", "letters", "windows"):
        np.testing.assert_array_equal(getattr(found.targets, name), getattr(known.targets, name))
    taxids = found.taxonomy.taxids[found.targets.taxon]
    np.testing.assert_array_equal(taxids, known.taxonomy.taxids[known.targets.taxon])


options_of = st.builds(
    BuildOptions,
    st.just(SMALL),
    st.integers(1, 12),
    st.booleans(),
    st.sampled_from([None, "sequence", "species", "genus"]),
    st.integers(1, 3),
)


@slow
@given(references(), options_of, st.sampled_from([64, 300, 4096]), st.sampled_from([40, 130, 5000]))
def test_any_references_are_those_of_the_oracle(
    shaped: Engine,
    tmp_path_factory: pytest.TempPathFactory,
    files: list[list[tuple[int, bytes]]],
    options: BuildOptions,
    block_bytes: int,
    pairs: int,
) -> None:
    folder = tmp_path_factory.mktemp("references")
    paths = write_references(folder, files)
    records = [record for file in files for record in file]
    taxa = {"sequence": range(len(records)), "species": [t if t in (2, 3, 4) else None for t, _ in records],
            "genus": [5 if t else None for t, _ in records], None: None}[options.remove_ambiguous]  # fmt: skip
    wanted = build_features([letters for _, letters in records], options, taxa)
    with in_parts(block_bytes, pairs):
        if not wanted:
            with pytest.raises(InputError, match="8 bases A, C, G or T in a row"):
                build(paths, options, taxonomy=write_taxonomy(folder), engine=shaped)
            return
        found = build(paths, options, taxonomy=write_taxonomy(folder), engine=shaped)
    assert locations_of(found) == wanted
    assert find_fault(found) is None
    assert found.targets.letters.tolist() == [len(letters) for _, letters in records]
    taxids = [int(found.taxonomy.taxids[taxon]) if taxon != NO_TAXON else 0 for taxon in found.targets.taxon]
    assert taxids == [taxid for taxid, _ in records]


@slow
@given(references(), references(), options_of, st.sampled_from([40, 5000]))
def test_adding_gives_what_building_at_once_gives(
    shaped: Engine,
    tmp_path_factory: pytest.TempPathFactory,
    old: list[list[tuple[int, bytes]]],
    new: list[list[tuple[int, bytes]]],
    options: BuildOptions,
    pairs: int,
) -> None:
    folder = tmp_path_factory.mktemp("references")
    taxonomy = write_taxonomy(folder)
    first, second = write_references(folder, old), write_references(folder, new, first=500)
    with in_parts(300, pairs):
        try:
            before = build(first, options, taxonomy=taxonomy, engine=shaped)
            found = add(before, second, taxonomy=taxonomy, engine=shaped)
        except InputError:  # one of them has no k-mer
            return
        assert_equal(found, build([*first, *second], options, taxonomy=taxonomy, engine=shaped))


def test_names_that_are_there_already_get_a_number(engine: Engine, tmp_path: Path) -> None:
    first, again = tmp_path / "a.fna", tmp_path / "b.fna"
    for path in (first, again):
        shutil.copy(EDGE_REFERENCES, path)
    before = build(first, taxonomy=EDGE, engine=engine)
    found = add(before, again, taxonomy=EDGE, engine=engine)
    assert found.targets.names[len(before.targets) :] == tuple(f"{name}!1" for name in before.targets.names)
    assert found.targets.sources == (str(first), str(again))
    np.testing.assert_array_equal(found.targets.taxon, np.tile(before.targets.taxon, 2))
    assert_equal(found, build([first, again], taxonomy=EDGE, engine=engine))


def test_a_file_is_not_added_twice(engine: Engine, tmp_path: Path) -> None:
    copy = tmp_path / EDGE_REFERENCES.name
    shutil.copy(EDGE_REFERENCES, copy)
    before = build(EDGE_REFERENCES, engine=engine)
    for again in (EDGE_REFERENCES, copy):
        with pytest.raises(InputError, match=r"edge_ref\.fna.* is in the database already.*leave it out"):
            add(before, again, engine=engine)
    copy.write_bytes(copy.read_bytes() + b">ZZ_000001.1\n" + bases(150, 4) + b"\n")
    assert len(add(before, copy, engine=engine).targets) == 2 * len(before.targets) + 1


def test_the_order_of_files_does_not_matter(engine: Engine, tmp_path: Path) -> None:
    (tmp_path / "below").mkdir()
    paths = [tmp_path / name for name in ("b.fa", "a.FNA", "below/c.fasta.gz", "not_this.txt")]
    for number, path in enumerate(paths):
        text = f">XX_{number:05}.1\n".encode() + bases(180, number)
        path.write_bytes(gzip.compress(text) if path.suffix == ".gz" else text)
    found = build(tmp_path, engine=engine)
    assert [Path(source).name for source in found.targets.sources] == ["a.FNA", "b.fa", "c.fasta.gz"]
    assert_equal(found, build([paths[2], paths[0], paths[1]], engine=engine))


def test_every_limit_of_memory_gives_the_same(device: Device) -> None:
    with Engine(device) as engine:
        wanted = build(VIRAL / "ref", engine=engine)
    most = 3_700_000  # for which there are two runs
    with Engine(device, max_memory=most) as engine:
        assert plan_build(engine.limits(engine.memory.used), SketchOptions(), None, 254).pairs < len(wanted.features)
        assert_equal(build(VIRAL / "ref", engine=engine), wanted)
        assert engine.memory.peak <= most
    with Engine(device, max_memory=1 << 20) as engine, pytest.raises(AllocationError, match="max_memory"):
        build(VIRAL / "ref", engine=engine)


def test_taxa_of_the_database_serve_for_what_is_added(engine: Engine, tmp_path: Path) -> None:
    first, second = write_references(tmp_path, [[(2, bases(210, 1))], [(2, bases(210, 2)), (4, bases(200, 3))]])
    taxonomy = write_taxonomy(tmp_path)
    before = build(first, taxonomy=taxonomy, engine=engine)
    found = add(before, second, engine=engine)
    np.testing.assert_array_equal(found.taxonomy.taxids, before.taxonomy.taxids)
    assert found.targets.taxon.tolist() == [before.targets.taxon[0], before.targets.taxon[0], NO_TAXON]


def test_a_taxonomy_without_the_taxa_of_the_database_is_refused(engine: Engine, tmp_path: Path) -> None:
    first, second = write_references(tmp_path, [[(2, bases(210, 1))], [(3, bases(210, 2))]])
    before = build(first, taxonomy=write_taxonomy(tmp_path), engine=engine)
    nodes = (tmp_path / "nodes.dmp").read_text().splitlines(keepends=True)
    (tmp_path / "nodes.dmp").write_text("".join(line for line in nodes if not line.startswith("2\t")))
    with pytest.raises(InputError, match=r"lacks the taxa of 1 target of the database: 2 of XX_00000000\.1"):
        add(before, second, taxonomy=tmp_path, engine=engine)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        (b"", "the file is empty"),
        (b"\n\n\n", "holds no sequence"),
        (b"garbage\nand more\n", "neither FASTA nor FASTQ"),
        (b"@read\nACGT\n+\nIIII\n", "is FASTQ, which reads are in; references are FASTA"),
        (b">a\nACGTACG\n>b\nNNNNNNNNNNNNNNNNNNNN\n", "none of 2 records has 16 bases"),
        (b">only a header\n", "none of 1 record has 16 bases"),
        (b"\x1f\x8b\x08\x00garbage", "gzip|damaged|truncated|cut"),
    ],
)
def test_bad_references(engine: Engine, tmp_path: Path, text: bytes, message: str) -> None:
    path = tmp_path / "x.fna"
    path.write_bytes(text)
    with pytest.raises(InputError, match=message) as caught:
        build(path, engine=engine)
    assert "\n" not in str(caught.value)
    assert str(path) in str(caught.value)


def test_references_that_are_not_there_or_there_twice(engine: Engine, tmp_path: Path) -> None:
    with pytest.raises(InputError, match="nothing"):
        build(tmp_path / "nothing.fna", engine=engine)
    with pytest.raises(InputError, match="holds no FASTA"):
        build(tmp_path, engine=engine)
    path, link = tmp_path / "a.fna", tmp_path / "b.fna"
    path.write_bytes(b">a\n" + bases(150, 4))
    link.symlink_to(path)
    for twice in ([path, path], [path, link], [tmp_path, path]):
        with pytest.raises(InputError, match=r"the same file as .*; name it once"):
            build(twice, engine=engine)


def test_too_many_windows(engine: Engine, tmp_path: Path) -> None:
    paths = write_references(tmp_path, [[(0, bases(700, 1))], [(0, bases(700, 2))]])
    with mock.patch.object(BUILDS, "MAX_WINDOWS", 14):
        assert len(build(paths, METACACHE_BUILD, engine=engine).targets) == 2
    with mock.patch.object(BUILDS, "MAX_WINDOWS", 13), pytest.raises(InputError, match=r"more than 13 windows"):
        build(paths, METACACHE_BUILD, engine=engine)


def test_progress_goes_through_all_files(engine: Engine, tmp_path: Path) -> None:
    paths = write_references(tmp_path, [[(0, bases(7000, 1))], [(0, bases(6300, 2))]])
    packed = tmp_path / "999.fna.gz"
    packed.write_bytes(gzip.compress(b">XX_999999.1\n" + bases(2500, 3)))
    told: list[tuple[int, int | None]] = []
    build([*paths, packed], engine=engine, run=Run(progress=lambda done, total: told.append((done, total))))
    total = sum(path.stat().st_size for path in (*paths, packed))
    assert told == sorted(told)
    assert told[-1] == (total, total)


def test_maps_need_a_taxonomy(engine: Engine, tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="taxpostmap maps accessions to taxa"):
        build(EDGE_REFERENCES, taxpostmap=[tmp_path / "map"], engine=engine)


def test_folders_hold_packed_references(tmp_path: Path) -> None:
    names = ["a.fa", "b.FNA.GZ", "c.fasta.bz2", "d.fas.xz", "e.ffn.zst", "below/f.frn.bgz", "g.txt", "h.fa.rar"]
    (tmp_path / "below").mkdir()
    for name in names:
        (tmp_path / name).touch()
    assert reference_files([str(tmp_path)]) == sorted(str(tmp_path / name) for name in names[:6])
