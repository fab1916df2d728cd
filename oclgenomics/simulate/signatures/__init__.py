"""Signatures, and samples that hold copies of them."""

from __future__ import annotations

from typing import TYPE_CHECKING

from oclgenomics.lazy_names import found_in

if TYPE_CHECKING:
    from oclgenomics.simulate.signatures import samples as samples, scenario as scenario

__getattr__, __dir__, __all__ = found_in(__name__, {"": "samples scenario"})
