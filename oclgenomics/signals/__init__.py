"""Raw signals of nanopore reads, and the models that say what signal a sequence gives.

Examples
--------
>>> from oclgenomics.signals import TrimOptions, read_signals
>>> for signals in read_signals("run/", trim=TrimOptions(), max_samples=4000):  # doctest: +SKIP
...     print(signals.names, signals.lengths)
"""

from oclgenomics.signals.kmer_model import KmerModel
from oclgenomics.signals.model import Signals
from oclgenomics.signals.model_files import MODELS, read_model, write_model
from oclgenomics.signals.read import read_signals
from oclgenomics.signals.trimming import TrimOptions, stall_end, trim_start
from oclgenomics.signals.writers import write_signals

__all__ = [
    "MODELS",
    "KmerModel",
    "Signals",
    "TrimOptions",
    "read_model",
    "read_signals",
    "stall_end",
    "trim_start",
    "write_model",
    "write_signals",
]
