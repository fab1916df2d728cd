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
    from oclgenomics.signals.chemistry import *
    from oclgenomics.signals.file_part import FilePart as FilePart
    from oclgenomics.signals.kmers import KmerModel as KmerModel
    from oclgenomics.signals.model import Signals as Signals
    from oclgenomics.signals.model_files import *
    from oclgenomics.signals.read import read_signals as read_signals, signal_files as signal_files
    from oclgenomics.signals.readers.numpy_files import write_signals as write_signals
    from oclgenomics.signals.trimming import *

__getattr__, __dir__, __all__ = found_in(
    __name__,
    {
        "chemistry": "PORES pore_named",
        "file_part": "FilePart",
        "kmers": "KmerModel",
        "model": "Signals",
        "model_files": "MODELS read_model write_model",
        "read": "read_signals signal_files",
        "readers.numpy_files": "write_signals",
        "trimming": "TrimOptions stall_end trim_start",
    },
)
