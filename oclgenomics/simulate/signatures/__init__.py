"""Signatures, and samples that hold copies of them."""

from __future__ import annotations

from typing import TYPE_CHECKING

from oclgenomics.lazy_names import found_in

if TYPE_CHECKING:
    from oclgenomics.simulate.signatures import samples, scenario

__all__ = ["samples", "scenario"]

__getattr__, __dir__ = found_in(__name__, dict.fromkeys(__all__, ""), __all__)
