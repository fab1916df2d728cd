"""Selection of reads while they are sequenced."""

from oclgenomics.sdtw.live.classifier import ReadUntilClassifier
from oclgenomics.sdtw.live.client import ReadUntilClient
from oclgenomics.sdtw.live.options import LiveOptions

__all__ = ["LiveOptions", "ReadUntilClassifier", "ReadUntilClient"]
