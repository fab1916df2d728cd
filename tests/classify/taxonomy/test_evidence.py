"""Shares of species, from the candidates of all reads together."""

from __future__ import annotations

import shutil
import subprocess
import sys
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from helpers.products import examples
from helpers.random_calls import random_lineages, random_reads
from helpers.taxonomies import targets_of, taxonomy_of
from hypothesis import given, settings, strategies as st

from oclgenomics.classify import reference
from oclgenomics.classify.formats import Tally, bracken_table
from oclgenomics.classify.formats.kraken import kreport
from oclgenomics.classify.options import METACACHE, QueryOptions, SketchOptions
from oclgenomics.classify.result import ClassifiedReads, Reads
from oclgenomics.classify.taxonomy.calls import NO_TARGET, Calls, Candidates
from oclgenomics.classify.taxonomy.evidence import (
    NOVEL_ODDS,
    SHRINKAGE,
    STEPS,
    Evidence,
    Mixture,
    ReadEvidence,
    genome_lengths,
    log_odds,
)
from oclgenomics.classify.taxonomy.lineages import Lineages
from oclgenomics.classify.taxonomy.tree import NO_TAXON
from oclgenomics.sequence.name_list import NameList

RANK_OF = {1: "root", 2: "domain", 10: "genus", 11: "genus", 20: "species", 21: "species", 22: "species", 23: "species"}
TREE = taxonomy_of({1: 1, 2: 1, 10: 2, 11: 2, 20: 10, 21: 10, 22: 11, 23: 11}, RANK_OF)
LINEAGES = Lineages.of(TREE, targets_of([4, 5, 6, 7]))
SKETCH = SketchOptions(winlen=91)


def part_of(rows: list[tuple[int, int, int, int]], letters: int = 150, called: bool = True) -> ClassifiedReads:
    """Reads of one length with the candidates (target, hits, second target or -1, hits)."""
    table = np.array(rows, np.int64).reshape(-1, 4)
    targets = np.where(table[:, [0, 2]] < 0, NO_TARGET, table[:, [0, 2]]).astype(np.uint32)
    hits = table[:, [1, 3]].astype(np.uint32)
    reads = len(table)
    candidates = Candidates(targets, hits, hits * 0, hits * 0, hits[:, 0])
    taxon = np.full(reads, 2 if called else NO_TAXON, np.int32)
    lengths = np.full(reads, letters, np.uint32)
    names = NameList.of(tuple(f"r{number}" for number in range(reads)))
    return ClassifiedReads(Reads(0, names, lengths, None, ""), candidates, Calls(taxon, hits[:, 0]))


def shares_of(*parts: ClassifiedReads) -> dict[int, float]:
    evidence = Evidence(LINEAGES, SKETCH)
    for part in parts:
        evidence.add(part.candidates, part.calls, part.reads.kmers(SKETCH.kmerlen))
    return {int(TREE.taxids[taxon]): reads for taxon, reads in evidence.shares().items()}


def test_safe_reads_are_of_their_candidates() -> None:
    found = shares_of(part_of([(0, 26, 1, 2)] * 600 + [(2, 26, -1, 0)] * 300))
    assert found[20] == pytest.approx(600, rel=0.05)
    assert found[22] == pytest.approx(300, rel=0.05)
    assert 21 not in found


def test_reads_of_two_candidates_go_where_safe_ones_are() -> None:
    found = shares_of(part_of([(0, 26, 1, 2)] * 90 + [(1, 26, 0, 2)] * 10 + [(0, 20, 1, 20)] * 100))
    assert found[20] > 7 * found[21]


def test_reads_of_no_species_are_of_the_genus() -> None:
    near = [(0, 8, 1, 7), (1, 8, 0, 7), (0, 7, 1, 6), (1, 7, 0, 7)] * 250
    alone = shares_of(part_of(near))
    assert alone[10] > 300
    beside = shares_of(part_of(near + [(0, 26, 1, 2)] * 1000))
    assert beside[10] > 300
    assert 1000 < beside[20] < 1400  # dealt out by calls, these would be nearly all of the 2,000


def test_no_read_is_lost_and_unclassified_ones_do_not_count() -> None:
    rows = [(0, 9, 1, 8), (2, 5, 0, 5), (3, 12, -1, 0)] * 7
    assert sum(shares_of(part_of(rows)).values()) == pytest.approx(21, abs=1e-4)
    assert shares_of(part_of(rows, called=False)) == {}
    assert shares_of() == {}


@given(seed=st.integers(0, 1 << 32), reads=st.integers(0, 60), cut=st.integers(0, 60))
def test_neither_parts_nor_order_matter(seed: int, reads: int, cut: int) -> None:
    rng = np.random.default_rng(seed)
    rows = [(int(a), 9 + int(x), -1 if b == a else int(b), 0 if b == a else int(y))
            for a, b, x, y in rng.integers(0, (4, 4, 12, 9), (reads, 4))]  # fmt: skip
    whole = shares_of(part_of(rows))
    assert shares_of(part_of(rows[:cut]), part_of(rows[cut:])) == whole
    assert shares_of(part_of([rows[at] for at in rng.permutation(reads)])) == whole


@settings(max_examples=examples(100))
@given(seed=st.integers(0, 1 << 32), rows=st.integers(1, 40), taxa=st.integers(1, 9), weighted=st.booleans())
def test_like_the_oracle(seed: int, rows: int, taxa: int, weighted: bool) -> None:
    rng = np.random.default_rng(seed)
    best, second = rng.integers(0, taxa, (2, rows))
    second = np.where(best == second, NO_TAXON, second)
    odds = rng.integers(-40, 41, (rows, 2)).astype(np.int8)
    known = ReadEvidence.joined([ReadEvidence(best, second, odds, rng.integers(1, 4, rows))])
    seen = np.unique(np.concatenate([known.best, known.second[known.second != NO_TAXON]]))
    above = 100 + seen % 3
    above[seen % 4 == 3] = NO_TAXON
    weights = rng.uniform(0.2, 3, len(seen)) if weighted else np.ones(len(seen))
    mixture = Mixture(known, seen, above, weights if weighted else None)
    found = mixture.maximized(mixture.counts, rounds=200, tolerance=0)
    of_relatives = dict(zip(mixture.parents.tolist(), found.relatives.tolist(), strict=True))
    of_taxa = found.reads
    assert (found.rounds, found.converged) == (200, False)
    reads = [
        (a, None if b == NO_TAXON else b, np.exp(x / STEPS), np.exp(y / STEPS))
        for a, b, (x, y), times in zip(*(array.tolist() for array in vars(known).values()), strict=True)
        for _ in range(times)
    ]
    parents = {a: None if b == NO_TAXON else b for a, b in zip(seen.tolist(), above.tolist(), strict=True)}
    each = dict(zip(seen.tolist(), weights.tolist(), strict=True)) if weighted else None
    expected, unknown = reference.share_reads(reads, parents, NOVEL_ODDS, SHRINKAGE, 200, each)
    assert of_taxa.tolist() == pytest.approx(list(expected.values()), rel=1e-5, abs=1e-5)
    for one in of_relatives.keys() | unknown.keys():
        assert of_relatives.get(one, 0) == pytest.approx(unknown.get(one, 0), rel=1e-5, abs=1e-5)


def test_intervals_hold_the_estimate_and_shrink_with_reads() -> None:
    widths = []
    for many in (1, 25):
        evidence = evidence_of([(0, 26, 1, 2), (0, 20, 1, 20), (1, 26, 0, 2), (2, 26, -1, 0), (2, 9, 3, 8)] * 20 * many)
        found = evidence.estimate()
        assert found.converged
        assert found.rounds < 2_000
        low, high = found.share_between  # type: ignore[misc]
        assert ((low <= found.share) & (found.share <= high)).all()
        assert found.share.sum() == pytest.approx(1)
        widths.append((high - low)[:2].mean())
        same, other = evidence.estimate(), evidence.estimate(seed=2)
        assert np.array_equal(same.share_between, found.share_between)  # type: ignore[arg-type]
        assert not np.array_equal(other.reads_between, found.reads_between)  # type: ignore[arg-type]
        assert np.array_equal(other.reads, found.reads)
    assert widths[1] == pytest.approx(widths[0] / 5, rel=0.4)
    assert evidence.estimate(rounds=0).share_between is None
    assert len(Evidence(LINEAGES, SKETCH).estimate()) == 0


def test_shares_of_genomes() -> None:
    """A genome four times as long gives four times as many reads; a file is a genome, whatever its targets."""
    targets = replace(
        LINEAGES.targets, sources=("a", "b", "c"), source=np.array([0, 1, 2, 2], np.int32),
        taxon=np.array([4, 4, 5, 5], np.int32), letters=np.array([4000, 4000, 400, 600], np.int64),
    )  # fmt: skip
    lineages = Lineages.of(TREE, targets)
    assert genome_lengths(lineages) == {4: 4000, 5: 1000}
    evidence = evidence_of([(0, 26, 2, 2)] * 800 + [(2, 26, 0, 2)] * 200, lineages)
    of_reads, of_genomes = evidence.estimate(rounds=10), evidence.estimate(per_genome=True, rounds=10)
    assert TREE.taxids[of_genomes.taxon[:2]].tolist() == [20, 21]
    assert of_reads.share[0] / of_reads.share[1] == pytest.approx(4, rel=0.05)
    assert of_genomes.share[0] / of_genomes.share[1] == pytest.approx(1, rel=0.05)
    assert of_genomes.length[:2].tolist() == [4000, 1000]
    alike = evidence_of([(0, 20, 2, 20)] * 1000, lineages)  # of either genome, more likely of the shorter one
    for per_genome in (False, True):
        found = alike.estimate(per_genome=per_genome, rounds=0)
        reads = dict(zip(found.taxon.tolist(), found.reads.tolist(), strict=True))
        assert (reads.get(5, 0) > reads.get(4, 0)) == per_genome


def evidence_of(rows: list[tuple[int, int, int, int]], lineages: Lineages = LINEAGES) -> Evidence:
    part, evidence = part_of(rows), Evidence(lineages, SKETCH)
    evidence.add(part.candidates, part.calls, part.reads.kmers(SKETCH.kmerlen))
    return evidence


def test_odds() -> None:
    hits, second = np.array([20, 20, 20, 6, 0]), np.array([0, 10, 20, 6, 0])
    odds = log_odds(hits, second, np.full(5, 28.4)).astype(int)
    assert (np.diff(odds[:3, 0]) < 0).all()  # the lead speaks for the best
    assert (np.diff(odds[:3, 1]) > 0).all()
    assert abs(odds[2, 0] - odds[2, 1]) <= STEPS / 4  # without a lead they are alike
    assert odds[3, 0] < odds[2, 0]  # few hits speak for a relative
    long = log_odds(np.array([900]), np.array([10]), np.array([1049.0]))
    assert long.tolist() == [[15 * STEPS, -15 * STEPS]]
    assert log_odds(np.array([0]), np.array([0]), np.array([0.0])).shape == (1, 2)


def test_when_candidates_tell_shares() -> None:
    assert QueryOptions().tells_shares
    for other in (METACACHE, QueryOptions(lowest="genus"), QueryOptions(maxcand=1)):
        assert not other.tells_shares


def tally_of_shares(seed: int, reads: int) -> Tally:
    """A tally of reads of which each has a candidate with a species, or is not called."""
    lineages = random_lineages(seed)
    part = random_reads(lineages, seed, reads)
    groups = np.append(lineages.groups("species"), NO_TAXON)
    candidates = part.candidates
    known = groups[np.minimum(candidates.targets, len(groups) - 1)] != NO_TAXON
    taxon = np.where(known[:, 0], part.calls.taxon, NO_TAXON)
    targets = np.where(known, candidates.targets, NO_TARGET)
    part = replace(part, candidates=replace(candidates, targets=targets), calls=replace(part.calls, taxon=taxon))
    tally = Tally(lineages, SKETCH)
    tally.add(part)
    return tally


@given(seed=st.integers(0, 1 << 32), reads=st.integers(0, 60), rank=st.sampled_from(["species", "genus", "domain"]))
def test_reports_of_shares(seed: int, reads: int, rank: str) -> None:
    tally = tally_of_shares(seed, reads)
    table = tally.estimate(rank)
    assert table.reads.sum() == pytest.approx(tally.reads - tally.unclassified, abs=1e-3)
    assert table.unclassified == tally.unclassified
    rows = [line.split("\t") for line in bracken_table(tally, rank).splitlines()[1:]]
    assigned = dict(zip(*(array.tolist() for array in tally.at_rank(rank)), strict=True))
    for row in rows:
        kept, added, estimate = map(int, row[3:6])
        called = assigned.get(int(np.flatnonzero(tally.lineages.taxonomy.taxids == int(row[1]))[0]), 0)
        assert (kept, added) == (min(called, estimate), estimate - kept)
    counts = dict(zip(table.taxon.tolist(), table.reads.tolist(), strict=True))
    assert sum(int(row[5]) for row in rows) <= sum(counts.values()) + len(rows)


@pytest.mark.parametrize("table", [kreport, bracken_table])
def test_taxpasta_reads_the_reports(table: Callable[[Tally], str], tmp_path: Path) -> None:
    """Its checks are stricter than those of other readers."""
    if shutil.which("taxpasta") is None:
        pytest.skip("taxpasta is not installed" if sys.version_info < (3, 12) else "taxpasta needs pandas 1")
    tally = tally_of_shares(1, 60)
    estimate = tally.estimate("species")
    shares = dict(zip(estimate.taxon.tolist(), estimate.reads.tolist(), strict=True))
    calls = zip(*(array.tolist() for array in tally.at_rank("species")), strict=True)
    assert any(shares.get(taxon, 0) < reads - 1 for taxon, reads in calls)  # of which Bracken knows nothing
    (tmp_path / "x").write_text(table(tally))
    profile = {kreport: "kraken2", bracken_table: "bracken"}[table]
    command = ["taxpasta", "standardise", "-p", profile, "-o", tmp_path / "y.tsv", tmp_path / "x"]
    subprocess.run(list(map(str, command)), check=True, capture_output=True)
    rows = [line.split("\t") for line in (tmp_path / "x").read_text().splitlines()]
    reads = {row[4]: row[2] for row in rows} if table is kreport else {row[1]: row[5] for row in rows[1:]}
    assert dict(line.split("\t") for line in (tmp_path / "y.tsv").read_text().splitlines()[1:]) == reads
