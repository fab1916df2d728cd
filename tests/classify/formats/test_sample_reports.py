"""Reports about a sample as a whole."""

from __future__ import annotations

import pickle
from collections import Counter
from dataclasses import replace
from threading import Lock

import numpy as np
import pytest
from helpers.classified import Layout, golden_lineages, golden_lines, parsed
from helpers.random_calls import random_lineages, random_reads
from hypothesis import given, strategies as st

from oclgenomics.classify.formats import (
    NativeOptions,
    PrecisionTally,
    Tally,
    TargetHits,
    bracken_table,
    cami_profile,
    krona_text,
    precision_text,
    summary_text,
)
from oclgenomics.classify.formats.kraken import RANK_LETTERS, kreport
from oclgenomics.classify.formats.native_lists import abundance_lists
from oclgenomics.classify.options import METACACHE_SKETCH, RANKS
from oclgenomics.classify.result import ClassifiedReads
from oclgenomics.classify.taxonomy.lineages import Lineages
from oclgenomics.classify.taxonomy.tree import NO_TAXON, Taxonomy
from oclgenomics.errors import UsageError

SEEDS = st.integers(0, 1 << 32)
SIZES = st.integers(0, 60)


def tally_of(lineages: Lineages, *parts: ClassifiedReads) -> Tally:
    tally = Tally(lineages)
    for part in parts:
        tally.add(part)
    return tally


def random_tally(seed: int, reads: int) -> tuple[Tally, ClassifiedReads]:
    lineages = random_lineages(seed)
    part = random_reads(lineages, seed, reads)
    return tally_of(lineages, part), part


def fields(text: str) -> list[list[str]]:
    return [line.split("\t") for line in text.splitlines()]


def test_golden_abundances() -> None:
    lineages = golden_lineages("viral")
    part = parsed(golden_lines("viral/se150.species.tophits.txt.gz"), lineages, Layout(name=1))
    tally = tally_of(lineages, part)
    assert abundance_lists(tally, "genus") == "".join(golden_lines("viral/se150.abundances.txt"))
    golden = "".join(golden_lines("viral/se150.precision_summary.txt"))
    assert summary_text(tally) in golden


@given(SEEDS, SIZES)
def test_another_process_can_have_the_counts(seed: int, reads: int) -> None:
    """Whatever belongs to this process stays here."""
    lineages = random_lineages(seed)
    tally = Tally(lineages, features=True, known=Lock().__enter__)  # type: ignore[arg-type]
    tally.add(random_reads(lineages, seed, reads))
    with pytest.raises(TypeError):
        pickle.dumps(tally)
    sent = pickle.loads(pickle.dumps(tally.calls_alone()))
    assert sent.counts.tolist() == tally.counts.tolist()
    assert (sent.reads, sent.sequences) == (tally.reads, tally.sequences)


def test_golden_precision_of_viruses() -> None:
    lineages = golden_lineages("viral")
    part = parsed(golden_lines("viral/se150.species.tophits.txt.gz"), lineages, Layout(name=1))
    rows = [line.split("\t") for line in golden_lines("viral/reads/se150.truth.tsv")]
    assert [row[0] for row in rows] == list(part.reads.names)
    precision = PrecisionTally(lineages)
    precision.add(part, lineages.taxonomy.find(np.array([int(row[1]) for row in rows])))
    golden = "".join(golden_lines("viral/se150.precision_summary.txt"))
    assert golden.endswith(summary_text(tally_of(lineages, part)) + precision_text(precision))


def test_golden_precision_of_wrong_calls() -> None:
    lineages, lines = golden_lineages("edge"), golden_lines("edge/edge.few.precision.txt")
    part = parsed(lines, lineages, Layout())
    truth = parsed(lines, lineages, Layout(call=1)).calls.taxon
    precision = PrecisionTally(lineages)
    for begin, end in ((0, 2), (2, 2), (2, 5)):
        some = replace(part.calls, taxon=part.calls.taxon[begin:end])
        reads = replace(part.reads, letters=part.reads.letters[begin:end])
        precision.add(replace(part, calls=some, reads=reads), truth[begin:end])
    assert "".join(lines).endswith(summary_text(tally_of(lineages, part)) + precision_text(precision))


def test_calls_with_nothing_in_common_with_the_truth() -> None:
    lineages = random_lineages(8, targets=40)
    taxa, unplaced = len(lineages.taxonomy), np.flatnonzero(lineages.targets.taxon == NO_TAXON)
    part = random_reads(lineages, 8, 3)
    calls = replace(part.calls, taxon=np.full(3, taxa + unplaced[0], np.int32))
    precision = PrecisionTally(lineages)
    precision.add(replace(part, calls=calls), np.full(3, taxa + unplaced[1], np.int32))
    assert (precision.reads, precision.right.sum(), precision.called_known.sum()) == (3, 0, 3)


def test_precision_without_a_truth() -> None:
    lineages = golden_lineages("edge")
    part = parsed(golden_lines("edge/edge.query.default.txt"), lineages, Layout(name=1))
    precision = PrecisionTally(lineages)
    assert precision_text(precision) == ""
    precision.add(part, np.full(len(part), NO_TAXON, np.int32))
    assert precision_text(precision) == f"# ground truth unknown: 100% ({len(part)})\n"


def sections() -> dict[str, str]:
    """What MetaCache printed by its options."""
    parts = "".join(golden_lines("edge/edge.few.layouts.txt")).split("=== ")[1:]
    return {part.partition("\n")[0]: part.partition("\n")[2] for part in parts}


def few_reads() -> tuple[Lineages, ClassifiedReads]:
    lineages = golden_lineages("edge")
    lines = sections()["-queryids -tophits -locations -allhits"].splitlines(keepends=True)
    return lineages, parsed(lines, lineages, Layout(name=1, all_hits=2, top_hits=3, locations=4))


@pytest.mark.parametrize(
    ("words", "options", "highest"),
    [
        ("", NativeOptions(), "domain"),
        (" -taxids -lineage -highest family", NativeOptions(taxids=True, lineage=True), "family"),
        (" -separate-cols -separator ;", NativeOptions(separate_cols=True, separator=";"), "domain"),
        (" -taxids-only", NativeOptions(taxids_only=True), "domain"),
    ],
)
def test_golden_hits_of_targets(words: str, options: NativeOptions, highest: str) -> None:
    lineages, part = few_reads()
    report = TargetHits(lineages, highest, METACACHE_SKETCH, options)
    report.add(part)
    golden = sections()[f"-hits-per-ref -no-map -no-summary{words}"].removeprefix("# few.fa\n")
    comments, rows = golden.splitlines()[:3], golden.splitlines()[3:]
    found = report.text().splitlines()
    assert found[:3] == comments
    assert sorted(found[3:]) == sorted(rows)  # MetaCache has no order of targets
    order = [lineages.targets.names.index(name) for name in lineages.targets.names if any(name in row for row in found)]
    assert order == sorted(order)


def test_golden_list_of_few_reads() -> None:
    lineages, part = few_reads()
    assert "# few.fa\n" + abundance_lists(tally_of(lineages, part)) == sections()["-abundances -no-map -no-summary"]


def test_hits_of_targets_that_no_read_hits() -> None:
    """A blank control has reads, and none of them hits anything."""
    lineages, part = few_reads()
    report = TargetHits(lineages, "domain", METACACHE_SKETCH)
    report.add(replace(part, calls=replace(part.calls, hitmin=np.full_like(part.calls.hitmin, 100))))
    assert len(report.text().splitlines()) == 3


def test_no_reads_at_all() -> None:
    lineages = golden_lineages("edge")
    tally, hits = Tally(lineages), TargetHits(lineages, "domain", METACACHE_SKETCH)
    assert summary_text(tally) == "# queries: 0\n"
    assert kreport(tally) == "  0.00\t0\t0\tR\t1\tT1\n"
    assert krona_text(tally) == ""
    assert len(hits.text().splitlines()) == 3
    assert bracken_table(tally).count("\n") == 1


@given(SEEDS, SIZES)
def test_clades_of_kraken_reports_add_up(seed: int, reads: int) -> None:
    tally, part = random_tally(seed, reads)
    rows = [[*row[:5], row[5]] for row in fields(kreport(tally))]
    unclassified = [row for row in rows if row[3] == "U"]
    tree = [row for row in rows if row[3] != "U"]
    assert rows[: len(unclassified)] == unclassified
    assert sum(int(row[2]) for row in rows) == reads
    assert sum(int(row[1]) for row in unclassified) + int(tree[0][1]) == reads
    depth = [(len(row[5]) - len(row[5].lstrip(" "))) // 2 for row in tree]
    assert (depth[0], tree[0][3], tree[0][4]) == (0, "R", "1")
    for place, row in enumerate(tree):
        end = next((at for at in range(place + 1, len(tree)) if depth[at] <= depth[place]), len(tree))
        assert int(row[1]) == sum(int(one[2]) for one in tree[place:end])
        below = [int(tree[at][1]) for at in range(place + 1, end) if depth[at] == depth[place] + 1]
        assert below == sorted(below, reverse=True)
        assert not place or depth[place] <= depth[place - 1] + 1
        if place:
            above = next(tree[at] for at in range(place - 1, -1, -1) if depth[at] == depth[place] - 1)
            assert row[3] == code_below(above[3], letter_of(tally.lineages, int(row[4])))
    assert len({row[4] for row in rows}) == len(rows)
    taxids = Counter(taxid_of(tally.lineages, number) for number in part.calls.taxon.tolist())
    assert {int(row[4]): int(row[2]) for row in rows if row[2] != "0"} == dict(taxids)


def test_all_reports_say_the_same_of_targets_without_taxa() -> None:
    """A database without a taxonomy classifies reads, too, if sequences are asked for."""
    none, targets = np.empty(0, np.int64), golden_lineages("edge").targets
    taxonomy = Taxonomy(none, none.astype(np.int32), none.astype(np.int8), (), none, none)
    lineages = Lineages.of(taxonomy, replace(targets, taxon=np.full_like(targets.taxon, NO_TAXON)))
    calls = np.array([0, NO_TAXON, 3, 3], np.int32)
    part = random_reads(lineages, 1, 4)
    tally = tally_of(lineages, replace(part, calls=replace(part.calls, taxon=calls)))
    assert kreport(tally) == " 25.00\t1\t1\tU\t0\tunclassified\n 75.00\t3\t3\tR\t1\troot\n"
    names = lineages.targets.names
    assert krona_text(tally) == f"1\t{names[0]}\n2\t{names[3]}\n1\tUnclassified\n"
    assert "root       75% (3)" in summary_text(tally)


def letter_of(lineages: Lineages, taxid: int) -> str | None:
    number = int(np.flatnonzero(lineages.taxonomy.taxids == taxid)[0])
    return RANK_LETTERS.get(int(lineages.taxonomy.ranks[number]))


def code_below(above: str, letter: str | None) -> str:
    """The code of a taxon: its rank's letter, or that of the taxon above it and one level more."""
    return letter or f"{above[0]}{int(above[1:] or 0) + 1}"


def taxid_of(lineages: Lineages, number: int) -> int:
    taxa = len(lineages.taxonomy)
    taxon = int(lineages.targets.taxon[number - taxa]) if number >= taxa else number
    if taxon == NO_TAXON:
        return 1 if number >= taxa else 0
    return int(lineages.taxonomy.taxids[taxon])


def test_letters_of_ranks() -> None:
    lineages = golden_lineages("viral")
    part = parsed(golden_lines("viral/se150.default.txt.gz"), lineages, Layout())
    rows = fields(kreport(tally_of(lineages, part)))
    assert rows[0] == [" 26.76", "5352", "5352", "U", "0", "unclassified"]
    ranks = {row[5].strip(): row[3] for row in rows}
    assert ranks["root"] == "R"
    assert ranks["Viruses"] == "D"
    assert ranks["Riboviria"] == "D1"  # a realm, to which no rank belongs here
    assert ranks["Negarnaviricota"] == "P"
    assert ranks["Orthoebolavirus"] == "G"
    assert ranks["Zaire ebolavirus"] == "S"


@given(SEEDS, SIZES)
def test_krona_counts_each_read_once(seed: int, reads: int) -> None:
    tally, _ = random_tally(seed, reads)
    rows = fields(krona_text(tally))
    assert sum(int(row[0]) for row in rows) == reads
    names = {taxon: name.replace("\t", "_") for taxon, name in enumerate(tally.lineages.taxonomy.names)}
    targets = tally.lineages.targets
    rootless = {name for name, taxon in zip(targets.names, targets.taxon.tolist(), strict=True) if taxon == NO_TAXON}
    for row in rows:
        if row[1:] not in ([], ["Unclassified"], *([name] for name in rootless)):
            taxon = next(number for number, name in names.items() if name == row[-1])
            path = [taxon]
            while (above := int(tally.lineages.taxonomy.parents[path[-1]])) != path[-1]:
                path.append(above)
            assert row[1:] == [names[one] for one in reversed(path[:-1])]


@given(SEEDS, SIZES)
def test_profiles_sum_to_a_hundred_at_most(seed: int, reads: int) -> None:
    tally, _ = random_tally(seed, reads)
    lines = cami_profile(tally, "my sample/1").splitlines()
    assert lines[:2] == ["@Version:0.9.1", "@SampleID:my_sample_1"]
    assert lines[3] == "@@TAXID\tRANK\tTAXPATH\tTAXPATHSN\tPERCENTAGE"
    ranks = lines[2].removeprefix("@Ranks:").split("|")
    taxonomy = tally.lineages.taxonomy
    shown = [name.replace("\t", "_").replace("|", "_") for name in taxonomy.names]
    known = dict(zip(map(str, taxonomy.taxids.tolist()), shown, strict=True)) | {"": ""}
    sums = dict.fromkeys(ranks, 0)
    for taxid, rank, path, names, percent in (line.split("\t") for line in lines[4:]):
        whole, part_of_one = percent.split(".")
        sums[rank] += int(whole + part_of_one)
        assert len(path.split("|")) == len(names.split("|")) == ranks.index(rank) + 1
        assert path.split("|")[-1] == taxid
        assert names.split("|") == [known[one] for one in path.split("|")]
    assert all(total <= 100 * 10**6 for total in sums.values())
    species = tally.at_rank("species")[1].sum()
    assert abs(sums["species"] - 10**8 * species / max(reads, 1)) <= len(lines)


def test_shares_are_rounded_down() -> None:
    lineages = golden_lineages("viral")
    species = np.flatnonzero(lineages.taxonomy.ranks == RANKS.index("species"))[:3].tolist()
    tally = Tally(lineages)
    tally.counts[species] = 1
    percent = [row[4] for row in fields(cami_profile(tally, "s"))[4:] if row[1] == "species"]
    assert percent == ["33.333333"] * 3


def test_golden_estimates_in_the_columns_of_bracken() -> None:
    lineages = golden_lineages("viral")
    part = parsed(golden_lines("viral/se150.species.tophits.txt.gz"), lineages, Layout(name=1))
    found = {row[1]: int(row[5]) for row in fields(bracken_table(tally_of(lineages, part), "genus"))[1:]}
    lines = [line.split("\t|\t") for line in golden_lines("viral/se150.abundances.txt")]
    estimated = next(at for at, row in enumerate(lines) if "estimated" in row[0])
    assert found == {row[1]: round(float(row[2])) for row in lines[estimated + 2 : -1]}


@given(SEEDS, SIZES, st.sampled_from(["species", "genus", "domain"]))
def test_tables_of_bracken(seed: int, reads: int, rank: str) -> None:
    tally, _ = random_tally(seed, reads)
    header, *rows = fields(bracken_table(tally, rank))
    assert len(header) == 7
    for row in rows:
        assigned, added, estimate = map(int, row[3:6])
        assert assigned + added == estimate
        assert added >= 0
        assert row[2] == rank[0].upper()
    assert not rows or sum(float(row[6]) for row in rows) == pytest.approx(1, abs=1e-5 * len(rows))
    assert sum(int(row[5]) for row in rows) <= reads + len(rows)


def test_a_rank_without_a_letter() -> None:
    with pytest.raises(UsageError, match="choose one of domain"):
        bracken_table(Tally(golden_lineages("edge")), "subgenus")


@given(SEEDS, SIZES)
def test_parts_add_up(seed: int, reads: int) -> None:
    tally, part = random_tally(seed, reads)
    again = tally_of(tally.lineages, part, part)
    assert (again.reads, again.sequences, again.unclassified) == (2 * reads, 2 * reads, 2 * tally.unclassified)
    np.testing.assert_array_equal(again.of_clades(), 2 * tally.of_clades())
    pairs = replace(part, reads=replace(part.reads, mate_letters=part.reads.letters))
    again = tally_of(tally.lineages, part, pairs)
    assert (again.reads, again.sequences) == (2 * reads, 3 * reads)


@pytest.mark.parametrize("reads", [0, 1, 20, 2000])
def test_reads_are_counted_whether_they_are_more_than_taxa(reads: int) -> None:
    tally, part = random_tally(3, reads)
    expected = Counter(part.calls.taxon.tolist())
    assert tally.counts.tolist() == [expected[taxon] for taxon in range(len(tally.counts) - 1)] + [expected[NO_TAXON]]
    tally.add(part)
    assert tally.reads == 2 * reads
