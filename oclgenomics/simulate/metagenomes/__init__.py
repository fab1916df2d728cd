"""Genomes of a tree of taxa, and reads of them."""

from __future__ import annotations

from typing import TYPE_CHECKING

from oclgenomics.lazy_names import found_in

if TYPE_CHECKING:
    from oclgenomics.simulate.metagenomes import files as files, genomes as genomes, reads as reads

__getattr__, __dir__, __all__ = found_in(__name__, {"": "files genomes reads"})
