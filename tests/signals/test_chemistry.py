"""What files say of pores and molecules, in the words of sequencers, and what models say."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from helpers.signal_files import CHEMISTRIES, WRITERS, need, raw_signals
from hypothesis import given, strategies as st

from oclgenomics.errors import InputError
from oclgenomics.signals import KmerModel, Signals, read_model, read_signals, write_model, write_signals
from oclgenomics.signals.chemistry import FACTS, PORES, Chemistry, chemistry_of, pore_named, same_rate


@pytest.mark.parametrize(
    ("facts", "pore", "molecule"),
    [
        ({"flow_cell_product_code": "FLO-MIN106", "sequencing_kit": "sqk-lsk109", "experiment_type": "genomic_dna"},
         "R9", "dna"),
        ({"flow_cell_product_code": "FLO-PRO114M", "sequencing_kit": "sqk-lsk114"}, "R10", ""),
        ({"flow_cell_product_code": "FLO-PRO002"}, "R9", ""),
        ({"flow_cell_product_code": "FLO-MIN111"}, "R10", ""),
        ({"flow_cell_product_code": "FLO-FLG001"}, "R9", ""),
        ({"flow_cell_product_code": "FLO-PRO004RA", "sequencing_kit": "SQK-RNA004"}, "RNA004", "rna"),
        ({"flow_cell_product_code": "", "flowcell_type": "flo-min107"}, "R9", ""),
        ({"sequencing_kit": "sqk-rna002", "experiment_type": "rna"}, "R9", "rna"),
        ({"sequencing_kit": "sqk-rbk114-24"}, "R10", ""),
        ({"sequencing_kit": "sqk-lsk109"}, "", ""),
        ({"pore_type": "not_set", "basecall_config_filename": "dna_r10.4.1_e8.2_400bps_hac_prom.cfg"}, "R10", "dna"),
        ({"pore_type": "R9.4.1"}, "R9", ""),
        ({"protocol_name": "sequencing/sequencing_MIN114_DNA_e8_2_400K:FLO-MIN114:SQK-LSK114:400"}, "R10", ""),
        ({"exp_script_name": "NC_48Hr_Sequencing_Run_FLO-MIN106_SQK-LSK108.py", "experiment_kit": "genomic_dna"},
         "R9", "dna"),
        ({"experiment_type": "cdna"}, "", "dna"),
        ({"flow_cell_product_code": "FLO-MIN106", "sequencing_kit": "sqk-lsk114"}, "R9", ""),  # what is in the device
        ({"experiment_type": "customer_qc", "flow_cell_product_code": "x"}, "", ""),
        ({}, "", ""),
    ],
)  # fmt: skip
def test_words_of_sequencers(facts: dict[str, str], pore: str, molecule: str) -> None:
    assert chemistry_of(facts) == Chemistry(pore, molecule)
    assert set(facts) <= set(FACTS)


@given(st.dictionaries(st.sampled_from(FACTS), st.text(max_size=30)))
def test_any_words(facts: dict[str, str]) -> None:
    found = chemistry_of(facts)
    assert found.pore in ("", *PORES)
    assert found.molecule in ("", "dna", "rna")


@pytest.mark.parametrize(
    ("text", "pore"),
    [("r9.4.1", "R9"), ("R10.4.1", "R10"), ("R9", "R9"), ("dna_r10.4.1_e8.2", "R10"), ("r9.4_450bps", "R9"),
     ("rna004", "RNA004"), ("rna_r9.4.1_70bps", "R9"), ("R7.3", "R7"), ("r11", ""), ("br9", ""), ("r90", ""), ("", ""),
     ("r10x", "")],
)  # fmt: skip
def test_names_of_pores(text: str, pore: str) -> None:
    assert pore_named(text) == pore


def test_rates() -> None:
    assert same_rate(4000, 4000)
    assert same_rate(3012, 3000)
    assert not same_rate(4000, 5000)


@pytest.mark.usefixtures("one_reader")
@pytest.mark.parametrize("kind", ["blow5", "pod5", "fast5", "single.fast5", "npz"])
def test_every_format(tmp_path: Path, kind: str) -> None:
    need(kind)
    for facts, chemistry in CHEMISTRIES:
        path = tmp_path / "-".join(["x", *chemistry])
        pore, molecule = (np.full(2, text, object) for text in chemistry)
        signals = replace(raw_signals((50, 70)), pore=pore, molecule=molecule)
        if kind == "npz":
            write_signals(path, signals)
        else:
            WRITERS[kind](path, signals, facts=facts)
        found = Signals.joined(list(read_signals(path)))
        assert set(zip(found.pore, found.molecule, strict=True)) == {chemistry}


def test_facts_that_cannot_be(tmp_path: Path) -> None:
    for name, message in (("pore", "the pore 'x'"), ("molecule", "the molecule 'x'")):
        write_signals(tmp_path / "x", replace(raw_signals((5,)), **{name: np.array(["x"], object)}))
        with pytest.raises(InputError, match=f"has {message}; the file is damaged"):
            list(read_signals(tmp_path / "x"))


# Models


def model_of(tmp_path: Path, comments: str, name: str = "m.txt") -> KmerModel:
    path = tmp_path / name
    path.write_text(comments + "A 1\nC 2\nG 3\nT 4\n")
    return read_model(path)


@pytest.mark.parametrize(
    ("comments", "name", "pore", "rate"),
    [
        ("", "m.txt", "", None),
        ("# pore: R10.4.1\n# rate: 5000\n", "m.txt", "R10", 5000.0),
        ("#pore\tr9.4\n", "r10.4.1.txt", "R9", None),
        ("#model_name\tr9.4_450bps.nucleotide.6mer.template.model\n#kit\tr9.4_450bps\n", "m.txt", "R9", None),
        ("#kit\tcustom\n", "m.txt", "", None),
        ("", "dna_r10.4.1_400bps_9mer.txt", "R10", None),
    ],
)
def test_what_models_say(tmp_path: Path, comments: str, name: str, pore: str, rate: float | None) -> None:
    model = model_of(tmp_path, comments, name)
    assert (model.pore, model.rate) == (pore, rate)
    write_model(tmp_path / "m.npz", model)
    again = read_model(tmp_path / "m.npz")
    assert (again.pore, again.rate, again.checksum) == (pore, rate, model.checksum)


def test_the_model_of_the_package() -> None:
    model = read_model("r9.4.1")
    assert (model.pore, model.rate) == ("R9", 4000.0)
    assert replace(model, name="other").checksum == model.checksum
    other = model.mean.copy()
    other[7] = np.nextafter(other[7], 0)
    assert replace(model, mean=other).checksum != model.checksum


@pytest.mark.parametrize(
    ("comments", "message"),
    [
        ("# pore: R11\n", "line 1: 'R11' is no pore; known are R7, R9, R10, RNA004"),
        ("\n# rate: fast\n", "line 2: 'fast' is not a number from 1 on"),
        ("# rate: 1e9\n", "line 1: '1e9' is no rate of samples per second"),
    ],
)
def test_what_models_cannot_say(tmp_path: Path, comments: str, message: str) -> None:
    with pytest.raises(InputError, match=message):
        model_of(tmp_path, comments)
