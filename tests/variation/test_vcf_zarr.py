"""The reader of VCF Zarr: what it says is what the VCF reader says of the VCF."""

from __future__ import annotations

import builtins
import io
import json
import os
import pickle
import re
import shutil
import subprocess
import sys
import tracemalloc
import zipfile
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings, strategies as st

pytest.importorskip("zarr")

from helpers.alignments import assert_same
from helpers.products import examples, only_whole
from helpers.vcf_files import COLUMNS, HEAD, files
from helpers.vcf_zarr import FILL, MISSING, vcf_arrays, write_store

from oclgenomics.cli.main import main
from oclgenomics.errors import InputError, MissingDependencyError
from oclgenomics.io import cores
from oclgenomics.variation import Alignment, ReadOptions, characters, read_alignments
from oclgenomics.variation.readers.read import BLOCK_BYTES
from oclgenomics.variation.readers.vcf_zarr import store as zarr_store

DATA = Path(__file__).parent.parent / "data"
EDGE = DATA / "omega" / "edge"
FORMATS = (2, 3)


def vcf(*records: str, samples: str = "a b") -> str:
    """A VCF of some records; blanks in them become tabs."""
    lines = [HEAD.strip(), "\t".join([COLUMNS, *samples.split()]), *(record.replace(" ", "\t") for record in records)]
    return "\n".join(lines) + "\n"


GOOD = vcf("1 10 . A G . PASS AF=0.5 GT 0|1 1|1", "1 12 . C T . . . GT 0|0 0|1", "2 3 . C T . . . GT 1|0 0|1")


def store(path: Path, text: str = GOOD, chunk: int = 2, zarr_format: int = 2, **changed: np.ndarray | None) -> Path:
    """The store of a VCF with some arrays replaced or (None) left out."""
    arrays = {name: values for name, values in (vcf_arrays(text) | changed).items() if values is not None}
    write_store(path, arrays, chunk, zarr_format)
    return path


def only(path: Path, *, block_bytes: int = BLOCK_BYTES, **options: object) -> Alignment:
    (alignment,) = read_alignments(path, ReadOptions(**options), block_bytes=block_bytes)
    return alignment


def with_an_allele(text: str) -> str:
    """A record in which no call has an allele gets one: such a record cannot be told from one without GT."""
    lines = []
    for line in text.split("\n"):
        fields = line.split("\t")
        if len(fields) > 9 and fields[8].startswith("GT") and not any(c.isdigit() for c in calls_of(fields)):
            fields[9] = fields[9].replace(".", "0", 1)
        lines.append("\t".join(fields))
    return "\n".join(lines)


def calls_of(fields: list[str]) -> str:
    return "".join(field.split(":")[0] for field in fields[9:])


@settings(max_examples=examples(50))
@given(
    file=files(), chunk=st.sampled_from([1, 2, 3, 100]), block=st.sampled_from([1, 100, 1 << 22]),
    zarr_format=st.sampled_from(FORMATS), packed=st.booleans(),
    phase=st.sampled_from(["auto", "missing", "strict", "ignore"]), data=st.data(),
)  # fmt: skip
def test_as_the_vcf_reader(tmp_path_factory, file, chunk, block, zarr_format, packed, phase, data):
    text, samples = with_an_allele(file[0]), file[1]
    folder = tmp_path_factory.mktemp("vcf")
    (folder / "x.vcf").write_text(text)
    path = store(folder / ("x.vcz.zip" if packed else "x.vcz"), text, chunk, zarr_format)
    if not any(line.split("\t")[8].startswith("GT") for line in text.splitlines() if line[0] != "#"):
        with pytest.raises(InputError, match="has no GT"):
            list(read_alignments(path))
        return
    chosen = {f"s{i}" for i in data.draw(st.sets(st.integers(0, samples - 1), min_size=1))}
    for keep in (None, chosen):
        found = read_alignments(path, ReadOptions(samples=keep, phase=phase), block_bytes=block)
        try:
            expected = list(read_alignments(folder / "x.vcf", ReadOptions(samples=keep, phase=phase)))
        except InputError as error:
            with pytest.raises(InputError, match=re.search(r"a call of sample s\d+ is not phased", str(error))[0]):
                list(found)
            continue
        for alignment, other in zip(found, expected, strict=True):
            assert_same(alignment, other)


@pytest.mark.each_value
@pytest.mark.parametrize("zarr_format", FORMATS)
@pytest.mark.parametrize("file", sorted(EDGE.glob("*.vcf")), ids=lambda path: path.stem)
def test_edge_inputs(tmp_path, file, zarr_format):
    path = store(tmp_path / "x", file.read_text(), 70, zarr_format)
    for alignment, expected in zip(read_alignments(path), read_alignments(file), strict=True):
        assert_same(alignment, expected)


@pytest.mark.parametrize("file", sorted((DATA / "vcf_zarr").iterdir()), ids=lambda path: path.name)
def test_stores_of_vcf2zarr(tmp_path, file):
    expected = list(read_alignments(EDGE / file.name.replace(".vcz.zip", ".vcf")))
    folder = tmp_path / "x"
    with zipfile.ZipFile(file) as packed:
        packed.extractall(folder)
    for path in (file, folder):
        for alignment, other in zip(read_alignments(path), expected, strict=True):
            assert_same(alignment, other)


def test_records_without_genotypes_of_any_sample_are_counted(tmp_path):
    text = vcf(
        "1 1 . A G . . . DP 3 4", "1 2 . A G . . . GT ./. ./.", "1 3 . A G . . . GT . 0|1", "1 4 . A G . q . DP 3 4"
    )
    alignment = only(store(tmp_path / "x", text))
    assert alignment.skipped == {"no GT": 2, "filter": 1}
    assert bytes(characters(alignment)).decode() == "NNAG"
    assert bytes(characters(only(tmp_path / "x", samples=["b"]))).decode() == "AG"
    first = only(tmp_path / "x", samples=["a"])
    assert (bytes(characters(first)), first.skipped) == (b"N", alignment.skipped)


def test_many_alleles(tmp_path):
    (tmp_path / "x.vcf").write_text(
        vcf(
            *(f"1 {i} . A {alleles} . . . GT 0|1 2|1" for i, alleles in enumerate(["C,G,T,*,N", "C,G,T,*,N,R", "C,TT"]))
        )
    )
    alignment = only(store(tmp_path / "x", (tmp_path / "x.vcf").read_text()))
    assert alignment.skipped == {"not a SNP": 2}
    assert_same(alignment, only(tmp_path / "x.vcf"))


def test_without_phases_every_call_is_unphased(tmp_path):
    path = store(tmp_path / "x", vcf("1 1 . A G . . . GT 0|1 1|1"), call_genotype_phased=None)
    assert only(path).unphased
    assert not only(path, phase="ignore").unphased
    path = store(tmp_path / "y", vcf("1 1 . A G . . . GT 0|0 1|1"), call_genotype_phased=None)
    assert not only(path).unphased


def test_without_filters_and_with_wider_types(tmp_path):
    path = store(
        tmp_path / "x", variant_filter=None, filter_id=None, call_genotype=GENOTYPES.astype(np.int16),
        variant_AF=np.array([[0.5], [np.nan], [np.nan]]), variant_position=np.array([10, 12, 3]),
    )  # fmt: skip
    for alignment, expected in zip(read_alignments(path), read_alignments(store(tmp_path / "y")), strict=True):
        assert_same(alignment, expected)


@pytest.mark.parametrize(
    ("values", "fixed"),
    [([[0, 1]], True), ([[1, -2]], True), ([[0, -1]], False), ([[-1, -1]], False), ([[0, 2]], False)],
)
def test_whole_numbers_as_frequencies(tmp_path, values, fixed):
    path = store(tmp_path / "x", vcf("1 1 . A G,T . . . GT 0|1 1|2"), variant_AF=np.array(values, np.int8))
    assert only(path).skipped == ({"AF 0 or 1": 1} if fixed else {})


def test_frequencies_as_text(tmp_path):
    text = np.array([["0", ""], ["1", "."], ["0.5", ""]], np.dtypes.StringDType())
    first, second = read_alignments(store(tmp_path / "x", variant_AF=text))
    assert first.skipped == {"AF 0 or 1": 1}
    assert second.skipped == {}


GENOTYPES = vcf_arrays(GOOD)["call_genotype"]


def calls(value: int, at: tuple[int, ...] = (1, 1, 0)) -> np.ndarray:
    changed = GENOTYPES.copy()
    changed[at] = value
    return changed


@pytest.mark.each_value
@pytest.mark.parametrize(
    ("changed", "message"),
    [
        ({"call_genotype": None}, "has no GT"),
        ({"variant_position": None}, "lacks the array variant_position"),
        ({"sample_id": None}, "lacks the array sample_id"),
        ({"filter_id": None}, "lacks the array filter_id"),
        ({"variant_contig": np.array([0, 0, 7], np.int8)}, "record 3: contig 7 of 2"),
        ({"variant_position": np.array([10, 9, 3])}, "record 2: position 9 comes after 10 on 1"),
        ({"variant_position": np.array([10, 11])}, "variant_allele is .* of shape"),
        ({"variant_position": np.array([10.0, 12, 13])}, "variant_position is float64 of shape"),
        ({"call_genotype": GENOTYPES[:, :1]}, "does not go with 2 samples"),
        ({"call_genotype": GENOTYPES[:2]}, "call_genotype is int8 of shape"),
        ({"call_genotype_phased": np.ones((3, 1), bool)}, "does not go with 2 samples"),
        ({"call_genotype": calls(2)}, "record 2: allele 2 of sample b is beyond REF and ALT"),
        ({"call_genotype": calls(-3)}, "record 2: allele -3 of sample b is beyond REF and ALT"),
        ({"call_genotype": np.concatenate([GENOTYPES] * 2, axis=2)}, "sample a has more than two alleles"),
        ({name: values[:0] for name, values in vcf_arrays(GOOD).items() if "_id" not in name}, "no records"),
    ],
)
@pytest.mark.parametrize("zarr_format", FORMATS)
def test_bad_stores(tmp_path, changed, message, zarr_format):
    path = store(tmp_path / "x", zarr_format=zarr_format, **changed)
    for block in (1, 1 << 22):
        with pytest.raises(InputError, match=message) as caught:
            list(read_alignments(path, block_bytes=block))
        assert str(path) in str(caught.value)
        assert "\n" not in str(caught.value)


def test_a_higher_ploidy_that_is_only_filled_is_taken_as_diploid(tmp_path):
    path = store(tmp_path / "x", call_genotype=np.concatenate([GENOTYPES, np.full_like(GENOTYPES, FILL)], axis=2))
    for alignment, expected in zip(read_alignments(path), read_alignments(store(tmp_path / "y")), strict=True):
        assert_same(alignment, expected)


def test_unknown_samples(tmp_path):
    with pytest.raises(InputError, match="no sample is named 'c'"):
        list(read_alignments(store(tmp_path / "x"), ReadOptions(samples=["a", "c"])))


@pytest.mark.parametrize("zarr_format", FORMATS)
def test_damaged_files(tmp_path, zarr_format):
    text = vcf(*(f"1 {i} . A G . . . GT 0|{i % 2} 1|1" for i in range(1, 60)))
    path = store(tmp_path / "x", text, 20, zarr_format)
    for name in ("call_genotype", "variant_position", "variant_allele"):
        chunks = [file for file in (path / name).rglob("*") if file.is_file() and file.suffix != ".json"]
        chunk = next(file for file in sorted(chunks) if not file.name.startswith("."))
        data = chunk.read_bytes()
        chunk.write_bytes(b"\xff" * 100)
        with pytest.raises(InputError, match=f"x: the array {name} is damaged") as caught:
            list(read_alignments(path))
        assert "\n" not in str(caught.value)
        chunk.write_bytes(data)
    meta = path / ".zgroup" if zarr_format == 2 else path / "zarr.json"
    meta.write_text('{"zarr_format": ')
    with pytest.raises(InputError, match="no Zarr group, or a damaged one"):
        list(read_alignments(path))


def test_what_is_no_store(tmp_path, monkeypatch):
    (tmp_path / "folder").mkdir()
    with pytest.raises(InputError, match="is a folder, and no VCF Zarr"):
        list(read_alignments(tmp_path / "folder"))
    with pytest.raises(InputError, match="is a folder, and no VCF Zarr"):
        list(read_alignments(tmp_path / "folder", ReadOptions(format="vcz")))
    with pytest.raises(InputError, match="is a folder; give a file"):
        list(read_alignments(store(tmp_path / "x"), ReadOptions(format="vcf")))
    (tmp_path / "text").write_text(GOOD)
    with pytest.raises(InputError, match="neither the folder of a Zarr group nor a zip file"):
        list(read_alignments(tmp_path / "text", ReadOptions(format="vcz")))
    with pytest.raises(InputError, match="no such file"):
        list(read_alignments(tmp_path / "absent", ReadOptions(format="vcz")))
    with pytest.raises(InputError, match="not from standard input"):
        list(read_alignments("-", ReadOptions(format="vcz")))
    with zipfile.ZipFile(tmp_path / "x.zip", "w") as packed:
        packed.writestr("x.vcf", GOOD)
    with pytest.raises(InputError, match="packed with zip"):
        list(read_alignments(tmp_path / "x.zip"))
    (tmp_path / "x.zip").write_bytes((tmp_path / "x.zip").read_bytes()[:50])
    with pytest.raises(InputError, match="a damaged zip file"):
        list(read_alignments(tmp_path / "x.zip"))
    monkeypatch.setitem(sys.modules, "zarr", None)
    with pytest.raises(MissingDependencyError, match=r"pip install 'oclgenomics\[zarr\]'"):
        list(read_alignments(tmp_path / "x"))


def test_progress_and_early_end(tmp_path):
    text = vcf(*(f"{1 + i // 30} {i} . A G . . . GT 0|{i % 2} 1|1" for i in range(1, 60)))
    path = store(tmp_path / "x.vcz.zip", text, 5)
    seen: list[tuple[int, int | None]] = []
    list(read_alignments(path, block_bytes=1, progress=lambda done, total: seen.append((done, total))))
    assert len(seen) == 12
    assert seen[-1] == (59 * 4, 59 * 4)
    reader = read_alignments(path, block_bytes=1)
    assert next(reader).name == "1"
    reader.close()


def test_peak_memory(tmp_path):
    sites, samples, block = 6000, 1000, 1 << 18
    rng = np.random.default_rng(1)
    arrays = vcf_arrays(vcf("1 1 . A G . . . GT 0|1", samples="a"))
    arrays = {
        name: values if name.endswith("_id") else np.repeat(values, sites, axis=0) for name, values in arrays.items()
    }
    arrays["sample_id"] = np.array([f"s{i}" for i in range(samples)], np.dtypes.StringDType())
    arrays["call_genotype"] = rng.integers(0, 2, (sites, samples, 2), np.int8)
    arrays["call_genotype_phased"] = np.ones((sites, samples), bool)
    write_store(tmp_path / "x", arrays, 1000, 2)
    next(read_alignments(store(tmp_path / "y")))  # what zarr itself takes
    tracemalloc.start()
    alignment = only(tmp_path / "x", block_bytes=block)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    chunk = 1000 * samples * 3
    assert peak < 3 * alignment.packed_bytes + 3 * chunk


def test_missing_and_fill_are_what_the_specification_says():
    arrays = vcf_arrays(vcf("1 1 . A G . . AF=. GT . ./1", "1 2 . A C,G . . AF=0 GT 0/1 1"))
    assert arrays["call_genotype"].tolist() == [[[MISSING, FILL], [MISSING, 1]], [[0, 1], [1, FILL]]]
    assert np.isnan(arrays["variant_AF"]).tolist() == [[True], [False]]


def test_scan_takes_a_folder(tmp_path, capsys, monkeypatch):
    monkeypatch.setattr("sys.stdin", io.StringIO())
    path = store(tmp_path / "x.vcz", (EDGE / "phased.vcf").read_text())
    options = ["--grid", "5", "--minwin", "1000", "--maxwin", "50000", "--quiet"]
    assert main(["omega", "scan", str(path), *options]) == 0
    report = capsys.readouterr().out
    assert main(["omega", "scan", str(EDGE / "phased.vcf"), *options]) == 0
    rows = [line for line in capsys.readouterr().out.splitlines() if not line.startswith("#")]
    assert [line for line in report.splitlines() if not line.startswith("#")] == rows
    assert len(rows) > 5
    assert main(["omega", "scan", str(tmp_path), *options]) == 3
    assert "is a folder, and no VCF Zarr" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("limit", "message"),
    [
        ("MAX_CHUNK_BYTES", r"the array .* has chunks of more than 3 bytes"),
        ("MAX_WHOLE_SIZE", "sample_id has 4 elements; at most 3"),
    ],
)
def test_arrays_are_bounded(tmp_path, monkeypatch, limit, message):
    path = store(tmp_path / "x", vcf("1 1 . A G . . . GT 0|1 1|1 0|0 0|0", samples="a\tb\tc\td"))
    monkeypatch.setattr(zarr_store, limit, 3)
    with pytest.raises(InputError, match=message):
        only(path)


class Bomb:
    """A pickle of it runs code when it is read."""

    def __reduce__(self):
        return exec, ("import builtins; builtins.ran = True",)


def with_pickle(path: Path, array: str) -> Path:
    """A store of version 2 with one array whose chunk is a pickle that runs code."""
    metadata = json.loads((path / array / ".zarray").read_text())
    metadata |= {"dtype": "|O", "filters": [{"id": "vlen-utf8"}, {"id": "pickle", "protocol": 5}], "compressor": None}
    (path / array / ".zarray").write_text(json.dumps(metadata))
    (path / array / "0").write_bytes(pickle.dumps(Bomb()))
    return path


@pytest.mark.parametrize("packed", [False, True])
def test_chunks_run_no_code(tmp_path, packed):
    path = with_pickle(store(tmp_path / "x.vcz", chunk=100), "sample_id")
    if packed:
        path = Path(shutil.make_archive(str(tmp_path / "x"), "zip", path))
    with pytest.raises(InputError, match="the array sample_id is packed with 'pickle', which is not read"):
        only(path)
    assert not hasattr(builtins, "ran")


@pytest.mark.pairwise
@pytest.mark.parametrize("array", ["sample_id", "contig_id", "variant_position", "variant_allele", "call_genotype"])
@pytest.mark.parametrize("zarr_format", FORMATS)
@pytest.mark.parametrize("codec", ["pickle", *only_whole("json2"), "x" * 1000])
def test_codecs_that_are_not_known(tmp_path, array, zarr_format, codec):
    """Neither at the top nor in a shard, nor in the other version's metadata beside those that are used."""
    path = store(tmp_path / "x.vcz", zarr_format=zarr_format)
    assert list(read_alignments(path))
    name = (".zarray", "zarr.json")[zarr_format - 2]
    metadata = json.loads((path / array / name).read_text())
    if zarr_format == 2:
        changes = [{"filters": [{"id": codec}]}, {"compressor": {"id": codec}}]
    else:
        inner = [*metadata["codecs"], {"name": f"numcodecs.{codec}"}]
        shard = {"name": "sharding_indexed", "configuration": {"chunk_shape": [1], "codecs": inner}}
        changes = [{"codecs": inner}, {"codecs": [codec]}, {"codecs": [shard]}]
    for change in changes:
        (path / array / name).write_text(json.dumps(metadata | change))
        with pytest.raises(InputError, match=f"{array} is packed with '{codec[:40]}'"):
            list(read_alignments(path))
    (path / array / name).write_text(json.dumps(metadata))
    (path / array / ("zarr.json" if zarr_format == 2 else ".zarray")).write_text(
        json.dumps({"codecs": [codec], "compressor": {"id": codec}})
    )
    with pytest.raises(InputError, match="is packed with"):
        list(read_alignments(path))


def test_copies_of_metadata_are_not_used(tmp_path):
    path = store(tmp_path / "x.vcz")
    (path / ".zmetadata").write_text('{"zarr_consolidated_format": 1, "metadata": {"sample_id/.zarray": 5}}')
    assert [alignment.name for alignment in read_alignments(path)] == ["1", "2"]


@pytest.mark.parametrize("text", ["", "[]", "{", '{"codecs": 5, "compressor": 5}', "[" * 100_000, " " * (1 << 25)])
def test_damaged_metadata(tmp_path, text):
    path = store(tmp_path / "x.vcz")
    (path / "sample_id" / "zarr.json").write_text(text)
    with pytest.raises(InputError, match=r"the metadata sample_id/zarr.json (are damaged|cannot be read)"):
        list(read_alignments(path))


def test_a_folder_whose_name_looks_like_an_address(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    path = store(Path("memory:") / "x.vcz")
    assert [alignment.name for alignment in read_alignments("memory://x.vcz")] == ["1", "2"]
    assert path.is_dir()


POOL = """
import sys
import zarr.core.sync
from oclgenomics.variation.readers.vcf_zarr.store import ZarrStore
ZarrStore(sys.argv[1])
print(zarr.core.sync._get_executor()._max_workers)
"""


def test_threads_of_the_library_are_limited(tmp_path: Path) -> None:
    """They are those of the first store of a process, so this is another one."""
    command = [sys.executable, "-c", POOL, str(store(tmp_path / "x.vcz"))]
    environment = {**os.environ, cores.VARIABLE: "1"}
    assert subprocess.run(command, env=environment, capture_output=True, text=True, check=True).stdout == "1\n"
