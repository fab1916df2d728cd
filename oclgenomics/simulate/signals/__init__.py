"""Raw nanopore signal of simulated reads."""

from __future__ import annotations

from typing import TYPE_CHECKING

from oclgenomics.lazy_names import found_in

if TYPE_CHECKING:
    from oclgenomics.signals import Signals, read_model, write_signals
    from oclgenomics.simulate.signals import drawing, reads

__all__ = ["Signals", "drawing", "read_model", "reads", "write_signals"]

HOMES = {"drawing": "", "reads": ""} | dict.fromkeys(("Signals", "read_model", "write_signals"), "oclgenomics.signals")

__getattr__, __dir__ = found_in(__name__, HOMES, __all__)
