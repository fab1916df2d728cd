"""Selection of reads while they are sequenced."""

from __future__ import annotations

from typing import TYPE_CHECKING

from oclgenomics.lazy_names import found_in

if TYPE_CHECKING:
    from oclgenomics.sdtw.live.classifier import ReadUntilClassifier, ReadUntilClient
    from oclgenomics.sdtw.live.options import LiveOptions

__all__ = [
    "LiveOptions",
    "ReadUntilClassifier",
    "ReadUntilClient",
]

HOMES = {
    "LiveOptions": "options",
    "ReadUntilClassifier": "classifier",
    "ReadUntilClient": "classifier",
}

__getattr__, __dir__ = found_in(__name__, HOMES, __all__)
