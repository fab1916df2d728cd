"""Selection of reads while they are sequenced."""

from __future__ import annotations

from typing import TYPE_CHECKING

from oclgenomics.lazy_names import found_in

if TYPE_CHECKING:
    from oclgenomics.sdtw.live.classifier import *
    from oclgenomics.sdtw.live.options import *
    from oclgenomics.sdtw.live.playback import *

__getattr__, __dir__, __all__ = found_in(
    __name__,
    {
        "classifier": "ReadUntilClassifier ReadUntilClient",
        "options": "FlowCellOptions LiveOptions",
        "playback": "Played named_classes of_class play played_text read_classes",
    },
)
