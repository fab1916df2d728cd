"""The reader of tree sequences, against genotypes taken one by one and against tskit's own export to VCF."""

from __future__ import annotations

import gzip
import io
import sys
import tracemalloc
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from helpers.alignments import assert_same
from hypothesis import given, settings, strategies as st

from oclgenomics.cli.main import main
from oclgenomics.errors import InputError, MissingDependencyError, UsageError
from oclgenomics.io.raw_file import Progress
from oclgenomics.variation import Alignment, ReadOptions, characters, read_alignments
from oclgenomics.variation.readers.read import BLOCK_BYTES

tskit = pytest.importorskip("tskit")

BASES = list("ACGT")
ALLELES = st.sampled_from(
    [
        BASES,
        BASES,
        ["a", "C", "*", "N"],
        ["0", "1"],
        ["0", "1", "2"],
        ["", "17", "17,4"],
        ["A", "AT", "G"],
        ["wt", "mut"],
    ]
)


def only(
    path: Path, *, block_bytes: int = BLOCK_BYTES, progress: Progress | None = None, **options: object
) -> Alignment:
    (alignment,) = read_alignments(path, ReadOptions(**options), block_bytes=block_bytes, progress=progress)
    return alignment


def build(
    parents: list[int], sites: list[tuple[float, list[str], list[tuple[int, str]]]], ploidy: int = 0, isolated: int = 0,
    order: list[int] | None = None, metadata: list[Any] | None = None,
) -> Any:  # fmt: skip
    """A tree sequence of one tree.

    `parents[i]` of node `len(parents) - i` counts from the root down, leaves being the nodes nothing hangs below;
    `sites` are position, ancestral state and mutations (node, state) from the root down; the leaves are samples, the
    first `isolated` of them cut off the tree between 50 and 100.
    """
    tables = tskit.TableCollection(100)
    if metadata is not None:
        tables.individuals.metadata_schema = tskit.MetadataSchema.permissive_json()
    count = len(parents) + 1
    leaves = [node for node in range(count) if node not in parents]
    owner = {}
    for i in range(len(leaves) // ploidy if ploidy else 0):
        tables.individuals.add_row(metadata=None if metadata is None else metadata[i])
        for leaf in leaves[i * ploidy : (i + 1) * ploidy]:
            owner[leaf if order is None else leaves[order[leaves.index(leaf)]]] = i
    for node in range(count):
        tables.nodes.add_row(
            flags=tskit.NODE_IS_SAMPLE if node in leaves else 0, time=count - node, individual=owner.get(node, -1)
        )
    for child, parent in enumerate(parents, 1):
        cut = leaves.index(child) < isolated if child in leaves else False
        tables.edges.add_row(left=0, right=50 if cut else 100, parent=parent, child=child)
    for position, ancestral, mutations in sites:
        site = tables.sites.add_row(position=position, ancestral_state=ancestral)
        for node, state in sorted(mutations):
            tables.mutations.add_row(site=site, node=node, derived_state=state)
    tables.sort()
    tables.build_index()
    tables.compute_mutation_parents()
    return tables.tree_sequence()


@st.composite
def trees(draw: st.DrawFn) -> Any:
    """Small tree sequences: any alleles, several mutations a site, missing samples, individuals of 0 to 2 nodes."""
    inner = draw(st.integers(0, 40))
    parents = [draw(st.integers(max(0, i - 6), i)) for i in range(inner + 2)]
    count = len(parents) + 1
    sites = []
    for position in sorted(draw(st.sets(st.floats(0, 99.75).map(lambda x: round(4 * x) / 4), max_size=12))):
        alleles = draw(ALLELES)
        nodes = draw(st.sets(st.integers(0, count - 1), max_size=4))
        sites.append(
            (position, draw(st.sampled_from(alleles)), [(node, draw(st.sampled_from(alleles))) for node in nodes])
        )
    leaves = count - len(set(parents))
    ploidy = draw(st.sampled_from([0, 1, 2] if leaves % 2 == 0 else [0, 1]))
    order = draw(st.permutations(range(leaves)))
    names = [{"name": f"i{i}"} for i in range(leaves)] if draw(st.booleans()) else None
    return build(parents, sites, ploidy, draw(st.integers(0, leaves)), order, names)


def slow_read(ts: Any, keep: set[str] | None = None) -> dict[str, Any]:
    """Positions, rows of letters, ploidy, names and counts, state by state."""
    nodes, ploidy, names = list(ts.samples()), 1, []
    by_individual = [[int(node) for node in individual.nodes] for individual in ts.individuals()]
    if sum(map(len, by_individual)) == len(nodes) and len({len(group) for group in by_individual}) == 1:
        ploidy = len(by_individual[0])
        metadata = [individual.metadata for individual in ts.individuals()]
        names = [entry["name"] for entry in metadata] if isinstance(metadata[0], dict) and metadata[0] else []
        chosen = [i for i in range(len(by_individual)) if keep is None or names[i] in keep]
        nodes = [node for i in chosen for node in by_individual[i]]
        names = [names[i] for i in chosen] if names else []
    out: dict[str, Any] = {"positions": [], "rows": [], "skipped": {}, "ploidy": ploidy, "names": tuple(names)}
    for variant in ts.variants():
        listed = [allele for allele in variant.alleles if allele is not None]
        reason, letters = slow_letters(listed)
        states = dict(zip(ts.samples().tolist(), variant.genotypes.tolist(), strict=True))
        row = [states[node] for node in nodes]
        if letters is None and not reason:
            seen = sorted(set(row) - {-1})
            reason = "more than two states" if len(seen) > 2 else ""
            letters = dict(zip(seen, "01", strict=False))
        if reason:
            out["skipped"][reason] = out["skipped"].get(reason, 0) + 1
            continue
        out["positions"].append(round(variant.site.position))
        out["rows"].append("".join("N" if state < 0 else letters[state] for state in row))
    return out


def slow_letters(alleles: list[str]) -> tuple[str, dict[int, str] | None]:
    """Why a site is left out, or the letter of each allele; None where that depends on which are seen."""
    if all(len(allele) == 1 and allele in "ACGTacgtRYSWKMBDHVNryswkmbdhvn*" for allele in alleles):
        letters = {i: allele.upper() if allele.upper() in BASES else "N" for i, allele in enumerate(alleles)}
        return ("", letters) if len(alleles) > 1 else ("no alternative allele", None)
    if any(allele and not set(allele) - set("ACGTNacgtn*") for allele in alleles):
        return "not a SNP", None
    return (
        ("no alternative allele", None) if len(alleles) == 1 else ("", {0: "0", 1: "1"} if len(alleles) == 2 else None)
    )


def check(alignment: Alignment, expected: dict[str, Any]) -> None:
    assert alignment.positions.tolist() == expected["positions"]
    assert alignment.skipped == expected["skipped"]
    assert (alignment.ploidy, alignment.samples) == (expected["ploidy"], expected["names"])
    assert [bytes(row).decode() for row in characters(alignment)] == expected["rows"]
    assert not alignment.unphased
    assert (alignment.valid is None) == (not any("N" in row for row in expected["rows"]))
    lettered = any(set(row) & set(BASES) for row in expected["rows"])
    assert alignment.alphabet == "dna" or not lettered


@settings(max_examples=150, deadline=None)
@given(ts=trees(), block=st.sampled_from([1, 100, 1 << 22]), data=st.data())
def test_as_genotypes_one_by_one(tmp_path_factory, ts, block, data):
    path = tmp_path_factory.mktemp("trees") / "x"
    ts.dump(path)
    expected = slow_read(ts)
    check(only(path, block_bytes=block), expected)
    if expected["names"]:
        keep = data.draw(st.sets(st.sampled_from(expected["names"]), min_size=1))
        check(only(path, block_bytes=block, samples=keep), slow_read(ts, keep))
    else:
        with pytest.raises(UsageError, match="samples cannot be chosen"):
            only(path, samples=["i0"])


@settings(max_examples=60, deadline=None)
@given(ts=trees())
def test_as_the_vcf_that_tskit_writes(tmp_path_factory, ts):
    letters = set("ACGTNacgtn*")
    symbols = [v.site.id for v in ts.variants() if any(not a or set(a) - letters for a in v.alleles if a is not None)]
    ts = ts.delete_sites(symbols)
    if not ts.num_sites:
        return
    folder = tmp_path_factory.mktemp("trees")
    ts.dump(folder / "x.trees")
    with (folder / "x.vcf").open("w") as file:
        ts.write_vcf(file, allow_position_zero=True)
    found, expected = only(folder / "x.trees"), only(folder / "x.vcf")
    if not expected.sites:  # the ploidy of a VCF is told by its calls
        assert (found.sites, found.skipped) == (0, expected.skipped)
        return
    assert expected.samples[0].startswith("tsk_")  # tskit's own names, which are not in the file
    expected.samples = found.samples
    assert_same(found, expected)


STAR = [0, 0, 0, 0]  # four leaves


def save(path: Path, ts: Any) -> Path:
    ts.dump(path)
    return path


def test_positions_are_rounded_as_tskit_exports_them(tmp_path):
    sites = [(at, "A", [(1, "G")]) for at in (0.0, 0.5, 1.25, 1.5, 2.5, 3.0)]
    assert only(save(tmp_path / "x", build(STAR, sites))).positions.tolist() == [0, 0, 1, 2, 2, 3]


def test_samples_that_are_cut_off_are_missing(tmp_path):
    sites = [(10, "A", [(1, "G")]), (60, "A", [(3, "G")]), (70, "A", [(1, "C"), (3, "G")])]
    text = [bytes(row) for row in characters(only(save(tmp_path / "x", build(STAR, sites, isolated=2))))]
    assert text == [b"GAAA", b"NNGA", b"CNGA"]


def test_without_sites(tmp_path):
    alignment = only(save(tmp_path / "x", build(STAR, [], ploidy=2)))
    assert (alignment.sites, alignment.haplotypes, alignment.ploidy) == (0, 4, 2)
    with pytest.raises(InputError, match="no sample nodes"):
        only(save(tmp_path / "x", tskit.TableCollection(10).tree_sequence()))


def test_individuals_with_other_numbers_of_nodes_are_haplotypes_one_by_one(tmp_path):
    tables = build(STAR, [(1, "A", [(1, "G")])], ploidy=2, metadata=[{"name": "a"}, {"name": "b"}]).dump_tables()
    assert only(save(tmp_path / "x", tables.tree_sequence())).samples == ("a", "b")
    owners = tables.nodes.individual
    owners[owners == 1] = [1, -1]
    tables.nodes.individual = owners
    alignment = only(save(tmp_path / "x", tables.tree_sequence()))
    assert (alignment.ploidy, alignment.haplotypes, alignment.samples) == (1, 4, ())


@pytest.mark.parametrize(
    ("metadata", "names"),
    [
        ([{"name": "a"}, {"name": "b"}], ("a", "b")),
        ([{"name": "a", "sample_id": "c"}, {"name": "a", "sample_id": "d"}], ("c", "d")),
        ([{"variant_data_sample_id": "x"}, {"variant_data_sample_id": "y"}], ("x", "y")),
        ([{"name": "a"}, {"name": ""}], ()),
        ([{"name": 1}, {"name": 2}], ()),
        ([{}, {"name": "a"}], ()),
    ],
)
def test_names_of_individuals(tmp_path, metadata, names):
    path = save(tmp_path / "x", build(STAR, [(1, "A", [(1, "G")])], ploidy=2, metadata=metadata))
    assert only(path).samples == names
    if names:
        alignment = only(path, samples=[names[1]])
        assert (alignment.samples, bytes(characters(alignment))) == (names[1:], b"AA")
        with pytest.raises(InputError, match="no sample is named 'z'"):
            only(path, samples=["z"])


def test_metadata_that_cannot_be_read(tmp_path):
    tables = build(STAR, [(1, "A", [(1, "G")])], ploidy=2).dump_tables()
    tables.individuals.packset_metadata([b"{", b"}"])
    tables.individuals.metadata_schema = tskit.MetadataSchema.permissive_json()
    with pytest.raises(InputError, match="the metadata of the individuals cannot be read"):
        only(save(tmp_path / "x", tables.tree_sequence()))


def test_damaged_files(tmp_path):
    path = save(tmp_path / "x", build(STAR, [(1, "A", [(1, "G")])]))
    data = path.read_bytes()
    rng = np.random.default_rng(1)
    messages = []
    for _ in range(100):
        damaged = bytearray(data)
        for at in rng.integers(8, len(data), 5):
            damaged[at] ^= int(rng.integers(1, 256))
        path.write_bytes(damaged)
        try:
            only(path)
        except InputError as error:
            messages.append(str(error))
    assert len(messages) > 20
    assert all(str(path) in message and "\n" not in message for message in messages)
    path.write_bytes(data[: len(data) // 2])
    with pytest.raises(InputError, match="no tree sequence, or a damaged one"):
        only(path)


def test_what_is_no_file_of_a_tree_sequence(tmp_path, monkeypatch):
    path = save(tmp_path / "x", build(STAR, [(1, "A", [(1, "G")])]))
    (tmp_path / "x.gz").write_bytes(gzip.compress(path.read_bytes()))
    for options in ({}, {"format": "trees"}):
        with pytest.raises(InputError, match="unpack"):
            only(tmp_path / "x.gz", **options)
    (tmp_path / "text").write_text("//")
    with pytest.raises(InputError, match="no tree sequence, or a damaged one"):
        only(tmp_path / "text", format="trees")
    with pytest.raises(InputError, match="no such file"):
        only(tmp_path / "absent", format="trees")
    with pytest.raises(InputError, match="is a folder"):
        only(tmp_path, format="trees")
    with pytest.raises(InputError, match="not from standard input"):
        only(Path("-"), format="trees")
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(path.read_bytes())))
    with pytest.raises(InputError, match="standard input: a tree sequence is read only from a file"):
        only(Path("-"))
    monkeypatch.setitem(sys.modules, "tskit", None)
    with pytest.raises(MissingDependencyError, match=r"pip install 'oclgenomics\[tskit\]'"):
        only(path)


def test_tszip_is_named(tmp_path):
    tszip = pytest.importorskip("tszip")
    tszip.compress(build(STAR, [(1, "A", [(1, "G")])]), tmp_path / "x.tsz")
    with pytest.raises(InputError, match="packed with tszip; unpack it with tszip -d"):
        only(tmp_path / "x.tsz")


def test_progress_ends_at_the_size_of_the_file(tmp_path):
    path = save(tmp_path / "x", build(STAR, [(at, "A", [(1, "G")]) for at in range(9)]))
    seen: list[tuple[int, int | None]] = []
    only(path, block_bytes=1, progress=lambda done, total: seen.append((done, total)))
    assert len(seen) == 9
    assert seen[-1] == (path.stat().st_size, path.stat().st_size)


def test_peak_memory(tmp_path):
    leaves = 2000
    sites = [(i / 50, "A", [(1 + i * 7 % leaves, "G")]) for i in range(5000)]
    path = save(tmp_path / "x", build([0] * leaves, sites))
    block = 1 << 20
    tracemalloc.start()
    alignment = only(path, block_bytes=block)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert peak < 3 * alignment.packed_bytes + block


def test_scan_says_that_there_are_no_names(tmp_path, capsys):
    path = save(tmp_path / "x", build(STAR, [(1, "A", [(1, "G")])]))
    (tmp_path / "names").write_text("a\n")
    options = ["--grid", "5", "--minwin", "10", "--maxwin", "50", "--samples", str(tmp_path / "names")]
    assert main(["omega", "scan", str(path), *options]) == 2
    assert "samples cannot be chosen" in capsys.readouterr().err
