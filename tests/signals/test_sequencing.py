"""What depends on the pore: steps of alignments, what is trimmed, and which molecule a model is for."""

from __future__ import annotations

import numpy as np
import pytest

from oclgenomics.errors import ParameterError
from oclgenomics.signals import SEQUENCING, KmerModel, TrimOptions, molecule_named, molecule_of, sequencing_of
from oclgenomics.signals.chemistry import PORES


@pytest.mark.parametrize(
    ("pore", "molecule", "rate", "name", "step", "extra", "most"),
    [
        ("R9", "", None, "R9.4.1 DNA", 3, 1000, 10_000),
        ("R9", "rna", None, "RNA002", 14, 4800, 7530),
        ("R10", "dna", None, "R10.4.1 DNA", 4, 1400, 12_500),
        ("R10", "", 4000.0, "R10.4.1 DNA", 3, 1100, 10_000),
        ("RNA004", "", None, "RNA004", 10, 3500, 10_000),
    ],
)
def test_numbers_of_a_pore(
    pore: str, molecule: str, rate: float | None, name: str, step: int, extra: int, most: int
) -> None:
    found = sequencing_of(pore, molecule, rate)
    assert found is not None
    assert (found.name, found.step, found.trim) == (name, step, TrimOptions(extra=extra, max_trim=most))


def test_pores_that_are_not_known() -> None:
    assert sequencing_of("") is sequencing_of("R7") is sequencing_of("R10", "rna") is None
    assert {one.pore for one in SEQUENCING} <= set(PORES)
    assert SEQUENCING[0].trim == TrimOptions()


@pytest.mark.parametrize(
    ("name", "pore", "molecule"),
    [
        ("m", "", "dna"), ("m", "R9", "dna"), ("m", "R10", "dna"), ("m", "RNA004", "rna"), ("rna002", "R9", "rna"),
        ("rna_r9.4_180mv_70bps", "R9", "rna"), ("rna004_130bps_9mer", "", "rna"), ("eterna", "", "dna"),
    ],
)  # fmt: skip
def test_the_molecule_of_a_model(name: str, pore: str, molecule: str) -> None:
    assert molecule_of(KmerModel(name, 1, np.ones(4), np.ones(4), pore)) == molecule


@pytest.mark.parametrize(
    ("name", "pore", "given"), [("m", "R10", "rna"), ("m", "RNA004", "dna"), ("rna002", "R9", "dna")]
)
def test_a_molecule_that_contradicts_the_model(name: str, pore: str, given: str) -> None:
    with pytest.raises(ParameterError, match=f"molecule='{given}': contradicts the model {name}"):
        molecule_of(KmerModel(name, 1, np.ones(4), np.ones(4), pore), given)  # type: ignore[arg-type]
    assert molecule_of(KmerModel("m", 1, np.ones(4), np.ones(4), "R9"), given) == given  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("text", "molecule"),
    [("dna_r10.4.1_e8.2_400bps", "dna"), ("RNA004", "rna"), ("r10.4.1", "dna"), ("r9.4.1", ""), ("rna_r9.4", "rna")],
)
def test_molecules_by_name(text: str, molecule: str) -> None:
    assert molecule_named(text) == molecule
