"""Which pore and which molecule signals and models are of, from what files and sequencers call them."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from typing import NamedTuple

PORES = ("R7", "R9", "R10", "RNA004")
"""Families of pores, whose models have nothing in common. R9 is R9.4, R9.4.1 and R9.5, R10 is R10.3 to R10.4.1."""

RATE_SLACK = 0.01  # of a rate: sequencers round theirs

FLOW_CELL_FACTS = ("flow_cell_product_code", "flowcell_type", "flow_cell_type", "protocol_name", "exp_script_name")
NAME_FACTS = ("pore_type", "basecall_config_filename")
KIT_FACTS = ("sequencing_kit", "experiment_kit")
MOLECULE_FACTS = ("experiment_type", "experiment_kit")
FACTS = tuple(dict.fromkeys(FLOW_CELL_FACTS + NAME_FACTS + KIT_FACTS + MOLECULE_FACTS))
"""Names under which files keep what `chemistry_of` looks at."""

FLOW_CELLS = (
    (re.compile(r"flo-(?:min|pro|flg)004ra"), "RNA004"),
    (re.compile(r"flo-(?:min|pro|flg)11[0-4]"), "R10"),
    (re.compile(r"flo-(?:min10[4-7]|minsp6|pro00[12]|flg001)"), "R9"),
)
KITS = (
    (re.compile(r"sqk-rna004"), "RNA004"),
    (re.compile(r"sqk-rna00[12]"), "R9"),
    (re.compile(r"sqk-[a-z0-9-]*11[24]"), "R10"),
)
NAMED = re.compile(r"(?<![a-z0-9])(?:r(7|9|10)(?:\.[0-9]+)*(?![0-9a-z.])|(rna004)(?![0-9]))")
RNA = re.compile(r"(?<![a-z])rna")
DNA = re.compile(r"(?<![a-z])c?dna")


class Chemistry(NamedTuple):
    """What signals are of; empty where it is not known.

    Attributes
    ----------
    pore : str
        One of `PORES`.
    molecule : {'dna', 'rna', ''}
        What goes through the pore; copies of RNA are DNA.
    """

    pore: str = ""
    molecule: str = ""


def pore_named(text: str) -> str:
    """Return the family of the pore that a text names, as in "dna_r10.4.1_e8.2_400bps"; empty if it names none."""
    found = NAMED.search(text.lower())
    if found is None:
        return ""
    return f"R{found[1]}" if found[1] else "RNA004"


def molecule_named(text: str) -> str:
    """Return the molecule that the name of a model or of a pore is for, as in "rna_r9.4_180mv_70bps"; else empty."""
    pore, text = pore_named(text), text.lower()
    if pore == "RNA004" or RNA.search(text):
        return "rna"
    return "dna" if pore == "R10" or DNA.search(text) else ""


def chemistry_of(facts: Mapping[str, str]) -> Chemistry:
    """Return what signals are of.

    Parameters
    ----------
    facts : mapping of str to str
        What a file says of the run, under names of `FACTS`. The product code of the flow cell comes first, then names
        of pores and of basecallers' models, then kits.
    """
    known = {name: text.lower() for name, text in facts.items()}

    def texts(names: Iterable[str]) -> list[str]:
        return [known[name] for name in names if name in known]

    pores = [
        *(pore for text in texts(FLOW_CELL_FACTS) for pattern, pore in FLOW_CELLS if pattern.search(text)),
        *filter(None, map(pore_named, texts(NAME_FACTS))),
        *(pore for text in texts((*KIT_FACTS, "protocol_name")) for pattern, pore in KITS if pattern.search(text)),
    ]
    hints = texts((*MOLECULE_FACTS, "basecall_config_filename"))
    molecules = ["dna" if DNA.search(text) else "rna" for text in hints if DNA.search(text) or RNA.search(text)]
    molecules += ["rna" for text in texts(KIT_FACTS) if "sqk-rna" in text]
    return Chemistry(pores[0] if pores else "", molecules[0] if molecules else "")


def same_rate(a: float, b: float) -> bool:
    """Whether two rates of samples are those of one setting of the sequencer."""
    return abs(a - b) <= RATE_SLACK * max(a, b)
