"""Simulated genomes: their tree, how far they are apart, and that a seed decides them."""

from __future__ import annotations

import hashlib
from collections import Counter
from dataclasses import replace
from itertools import islice
from pathlib import Path

import numpy as np
import pytest
from numpy.typing import NDArray

from oclgenomics.errors import InputError, OutputError, ParameterError
from oclgenomics.simulate.draws import RandomBits
from oclgenomics.simulate.metagenomes.evolution import ancestor, diverged
from oclgenomics.simulate.metagenomes.files import read_table, read_text, write_genomes, write_taxonomy
from oclgenomics.simulate.metagenomes.genomes import MetagenomeScenario, plan_genomes, plan_taxa, simulate_genomes

SMALL = MetagenomeScenario(genera=3, species=2, references=2, length=3_000)
RANKS = ["no rank", "superkingdom", "phylum", "class", "order", "family", "genus", "species"]
K = 12


def kmers(letters: NDArray[np.uint8]) -> set[bytes]:
    text = letters.tobytes()
    return {text[at : at + K] for at in range(len(text) - K + 1)}


def likeness(one: NDArray[np.uint8], other: NDArray[np.uint8]) -> float:
    mine = kmers(one)
    return len(mine & kmers(other)) / len(mine)


def test_taxa_are_a_tree() -> None:
    taxa = plan_taxa(replace(SMALL, genera=17))
    known = {one.taxid: one for one in taxa}
    assert [one.taxid for one in taxa] == list(range(1, len(taxa) + 1))
    assert Counter(one.rank for one in taxa)["species"] == 17 * 3
    for one in taxa[1:]:
        assert RANKS.index(known[one.parent].rank) == RANKS.index(one.rank) - 1
        assert one.parent < one.taxid
    assert Counter(one.parent for one in taxa if one.rank == "species") == {
        one.taxid: 3 for one in taxa if one.rank == "genus"
    }


def test_plan() -> None:
    taxa = plan_taxa(SMALL)
    plans = list(plan_genomes(SMALL, taxa))
    assert Counter(plan.role for plan in plans) == {"reference": 12, "strain": 6, "novel": 3, "alien": 2}
    assert [plan.name for plan in plans] == [f"SIM_{number:06}.1" for number in range(1, 24)]
    known = {one.taxid: one for one in taxa}
    for plan in plans:
        if plan.role == "alien":
            assert (plan.species_taxid, plan.genus_taxid) == (0, 0)
        else:
            assert known[plan.species_taxid].parent == plan.genus_taxid
            assert plan.title.startswith(known[plan.species_taxid].name)
    novel = {plan.species_taxid for plan in plans if plan.role == "novel"}
    assert not novel & {plan.species_taxid for plan in plans if plan.role == "reference"}


def test_relatives_are_alike_by_their_relation() -> None:
    scenario = replace(SMALL, length=30_000, simple=0, repeats=0, transferred=0, strain_divergence=(0.01, 0.01))
    found = {(one.plan.genus, one.plan.species, one.plan.strain, one.plan.role): one.letters
             for one in simulate_genomes(scenario, 3)}  # fmt: skip
    first = found[0, 0, 0, "reference"]
    strain, species = found[0, 0, 2, "strain"], found[0, 1, 0, "reference"]
    novel, family, other = found[0, 2, 0, "novel"], found[1, 0, 0, "reference"], found[2, 0, 0, "reference"]
    alien = found[0, 0, 0, "alien"]
    assert 0.6 < likeness(first, strain) < 0.95
    assert 0.1 < likeness(first, species) < 0.6
    assert 0.1 < likeness(first, novel) < 0.6
    assert likeness(first, family) < 0.25
    assert 0.03 < likeness(first, other) < 0.25  # conserved genes
    assert likeness(first, alien) < 0.01


def test_divergence_is_the_share_of_substitutions() -> None:
    draws = RandomBits(np.random.SeedSequence(5))
    one = ancestor(200_000, 0.4, draws)
    assert np.isin(one.codes, (2, 3)).mean() == pytest.approx(0.4, abs=0.01)
    for divergence in (0.0, 0.01, 0.1):
        assert (diverged(one, divergence, 0, draws).codes != one.codes).mean() == pytest.approx(divergence, rel=0.1)
    sizes = [len(diverged(one, 0.05, 0.2, draws)) for _ in range(4)]
    assert len(set(sizes)) > 1
    assert all(abs(size - 200_000) < 2_000 for size in sizes)


def test_transfers_and_elements_make_others_alike() -> None:
    none = replace(SMALL, length=20_000, simple=0, repeats=0, transferred=0)
    shares = []
    for scenario in (none, replace(none, transferred=0.3)):
        genomes = {(one.plan.genus, one.plan.species, one.plan.strain): one.letters
                   for one in simulate_genomes(scenario, 8) if one.plan.role == "reference"}  # fmt: skip
        others = set().union(*(kmers(letters) for key, letters in genomes.items() if key[0] != 0))
        mine = kmers(genomes[0, 0, 0])
        shares.append(len(mine & others) / len(mine))
    assert shares[1] > shares[0] + 0.1


def test_a_seed_decides_the_bytes() -> None:
    digest = hashlib.sha256()
    for genome in simulate_genomes(SMALL, 11):
        digest.update(genome.letters)
    assert digest.hexdigest()[:16] == "dc106c281a775a3a"
    more = list(simulate_genomes(replace(SMALL, aliens=3), 11))
    for one, same in zip(simulate_genomes(SMALL, 11), more[:-1], strict=True):
        assert np.array_equal(one.letters, same.letters)
    other = next(simulate_genomes(SMALL, 12))
    assert not np.array_equal(other.letters, more[0].letters)


def test_genomes_take_memory_of_their_ancestors_only() -> None:
    genomes = simulate_genomes(replace(SMALL, references=10_000), 1)
    assert len(list(islice(genomes, 3))) == 3


@pytest.mark.parametrize(
    ("name", "value"),
    [("genera", 0), ("strains", -1), ("length", 999), ("gc", (0.6, 0.4)), ("gc", (0.5, 1.2)), ("indels", 0.6),
     ("species_divergence", (0.1, 0.7)), ("genera", 1_000_000), ("length", 1_000_000_000)],
)  # fmt: skip
def test_scenarios_that_are_refused(name: str, value: object) -> None:
    with pytest.raises(ParameterError, match=name):
        replace(SMALL, **{name: value})


def test_folder(tmp_path: Path) -> None:
    write_taxonomy(tmp_path / "taxonomy", plan_taxa(SMALL))
    genomes = list(simulate_genomes(SMALL, 2))
    listed = write_genomes(tmp_path, genomes)
    assert read_table(tmp_path) == listed
    for one, genome in zip(listed, genomes, strict=True):
        assert np.array_equal(read_text(one), genome.letters)
    header = listed[0].path.read_text().split("\n")[0]
    assert header == f">SIM_000001.1|kraken:taxid|{listed[0].species_taxid} Genus001 species001 strain 1"
    assert listed[-1].path.read_text().split("\n")[0] == ">SIM_000023.1 alien 2"
    accessions = (tmp_path / "taxonomy" / "simulated.accession2taxid").read_text().splitlines()
    assert len(accessions) == 1 + 12
    with pytest.raises(OutputError, match="another folder"):
        write_genomes(tmp_path, genomes)


def test_folders_that_are_refused(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="simulate genomes"):
        read_table(tmp_path)
    write_genomes(tmp_path, islice(simulate_genomes(SMALL, 2), 2))
    table = tmp_path / "genomes.tsv"
    whole = table.read_text()
    for damaged, line in ((whole.replace("file", "x"), 1), (whole.replace("reference\t", "other\t"), 2)):
        table.write_text(damaged)
        with pytest.raises(InputError, match=f"line {line}"):
            read_table(tmp_path)
    table.write_text(whole)
    one = read_table(tmp_path)[0]
    one.path.write_text(one.path.read_text()[:-10])
    with pytest.raises(InputError, match="not one sequence"):
        read_text(one)
