"""Alignments of haplotypes of a population: neutral, swept by selection, or of independent sites."""

from __future__ import annotations

from typing import TYPE_CHECKING

from oclgenomics.lazy_names import found_in

if TYPE_CHECKING:
    from oclgenomics.simulate.haplotypes import files
    from oclgenomics.variation.bed import MAX_BP
    from oclgenomics.variation.writers import write_ms_head

__all__ = ["MAX_BP", "files", "write_ms_head"]

HOMES = {"MAX_BP": "oclgenomics.variation.bed", "files": "", "write_ms_head": "oclgenomics.variation.writers"}

__getattr__, __dir__ = found_in(__name__, HOMES, __all__)
