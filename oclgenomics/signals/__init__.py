"""Raw signals of nanopore reads, and the models that say what signal a sequence gives.

Examples
--------
>>> from oclgenomics.signals import TrimOptions, read_signals
>>> for signals in read_signals("run/", trim=TrimOptions(), max_samples=4000):  # doctest: +SKIP
...     print(signals.names, signals.lengths)
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from oclgenomics.lazy_names import found_in

if TYPE_CHECKING:
    from oclgenomics.signals.chemistry import PORES, pore_named
    from oclgenomics.signals.kmers import KmerModel
    from oclgenomics.signals.model import Signals
    from oclgenomics.signals.model_files import MODELS, read_model, write_model
    from oclgenomics.signals.read import read_signals
    from oclgenomics.signals.readers.numpy_files import write_signals
    from oclgenomics.signals.trimming import TrimOptions, stall_end, trim_start

__all__ = [
    "MODELS",
    "PORES",
    "KmerModel",
    "Signals",
    "TrimOptions",
    "pore_named",
    "read_model",
    "read_signals",
    "stall_end",
    "trim_start",
    "write_model",
    "write_signals",
]

HOMES = {
    "KmerModel": "kmers", "MODELS": "model_files", "PORES": "chemistry", "Signals": "model",
    "TrimOptions": "trimming", "pore_named": "chemistry", "read_model": "model_files", "read_signals": "read",
    "stall_end": "trimming", "trim_start": "trimming", "write_model": "model_files",
    "write_signals": "readers.numpy_files"
}  # fmt: skip

__getattr__, __dir__ = found_in(__name__, HOMES, __all__)
