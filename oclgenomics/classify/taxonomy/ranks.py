"""Ranks of taxa, and the slots of a lineage that they fill."""

from __future__ import annotations

__all__ = ["NO_RANK", "RANKS", "RANK_SLOTS", "SEQUENCE", "rank_slot"]

# The slots of a ranked lineage, from the lowest to the highest one.
RANKS = (
    "sequence", "form", "variety", "subspecies", "species", "subgenus", "genus", "subtribe", "tribe", "subfamily",
    "family", "suborder", "order", "subclass", "class", "subphylum", "phylum", "subkingdom", "kingdom", "domain",
    "root",
)  # fmt: skip
NO_RANK = -1
SEQUENCE = RANKS.index("sequence")
# Ranks of NCBI that fill a slot of another name. Those of neither table ("no rank", clade, strain) fill none.
_OTHERS = {
    "forma": "form", "varietas": "variety", "superkingdom": "domain",
    "species group": "subgenus", "species subgroup": "subgenus", "superfamily": "suborder", "infraorder": "suborder",
    "parvorder": "suborder", "superorder": "subclass", "infraclass": "subclass", "superclass": "subphylum",
    "superphylum": "subkingdom", "division": "phylum", "subdomain": "kingdom",
}  # fmt: skip
RANK_SLOTS = {name: slot for slot, name in enumerate(RANKS)} | {old: RANKS.index(new) for old, new in _OTHERS.items()}


def rank_slot(name: str) -> int:
    """Return the slot that a rank fills, `NO_RANK` for none."""
    return RANK_SLOTS.get(name.strip().lower(), NO_RANK)
