"""Genomes of a tree of taxa, and reads of them."""

from __future__ import annotations

from typing import TYPE_CHECKING

from oclgenomics.lazy_names import found_in

if TYPE_CHECKING:
    from oclgenomics.simulate.metagenomes import files, genomes, reads

__all__ = ["files", "genomes", "reads"]

__getattr__, __dir__ = found_in(__name__, dict.fromkeys(__all__, ""), __all__)
