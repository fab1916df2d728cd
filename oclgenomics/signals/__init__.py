"""Raw signals of nanopore reads, and the models that say what signal a sequence gives."""

from oclgenomics.signals.kmer_model import KmerModel
from oclgenomics.signals.model import Signals

__all__ = ["KmerModel", "Signals"]
