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
    from oclgenomics.signals.published import (
        MODELS_SOURCE as MODELS_SOURCE,
        PUBLISHED as PUBLISHED,
        fetch_model as fetch_model,
    )
    from oclgenomics.signals.read import read_signals as read_signals, signal_files as signal_files
    from oclgenomics.signals.readers.numpy_files import write_signals as write_signals
    from oclgenomics.signals.sequencing import (
        SEQUENCING as SEQUENCING,
        Sequencing as Sequencing,
        molecule_of as molecule_of,
        sequencing_of as sequencing_of,
    )
    from oclgenomics.signals.trimming import *

__getattr__, __dir__, __all__ = found_in(
    __name__,
    {
        "chemistry": "PORES molecule_named pore_named",
        "file_part": "FilePart",
        "kmers": "KmerModel",
        "model": "Signals",
        "model_files": "MODEL_NAMES MODELS read_model write_model",
        "published": "MODELS_SOURCE PUBLISHED fetch_model",
        "read": "read_signals signal_files",
        "readers.numpy_files": "write_signals",
        "sequencing": "SEQUENCING Sequencing molecule_of sequencing_of",
        "trimming": "TrimOptions stall_end trim_start",
    },
)
