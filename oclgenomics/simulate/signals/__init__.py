"""Raw nanopore signal of simulated reads."""

from __future__ import annotations

from typing import TYPE_CHECKING

from oclgenomics.lazy_names import found_in

if TYPE_CHECKING:
    from oclgenomics.simulate.signals import drawing as drawing, reads as reads

__getattr__, __dir__, __all__ = found_in(__name__, {"": "drawing reads"})
