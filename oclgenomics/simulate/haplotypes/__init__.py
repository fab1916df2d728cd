"""Alignments of haplotypes of a population: neutral, swept by selection, or of independent sites."""

from __future__ import annotations

from typing import TYPE_CHECKING

from oclgenomics.lazy_names import found_in

if TYPE_CHECKING:
    from oclgenomics.simulate.haplotypes import files as files
    from oclgenomics.variation.bed import MAX_BP as MAX_BP
    from oclgenomics.variation.writers import write_ms_head as write_ms_head

__getattr__, __dir__, __all__ = found_in(
    __name__, {"oclgenomics.variation.bed": "MAX_BP", "oclgenomics.variation.writers": "write_ms_head", "": "files"}
)
