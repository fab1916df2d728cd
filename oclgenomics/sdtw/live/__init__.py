"""Selection of reads while they are sequenced."""

from __future__ import annotations

from typing import TYPE_CHECKING

from oclgenomics.lazy_names import found_in

if TYPE_CHECKING:
    from oclgenomics.sdtw.live.classifier import ReadUntilClassifier, ReadUntilClient
    from oclgenomics.sdtw.live.options import FlowCellOptions, LiveOptions
    from oclgenomics.sdtw.live.playback import Played, named_classes, of_class, play, played_text, read_classes

__all__ = [
    "FlowCellOptions",
    "LiveOptions",
    "Played",
    "ReadUntilClassifier",
    "ReadUntilClient",
    "named_classes",
    "of_class",
    "play",
    "played_text",
    "read_classes",
]

HOMES = {
    "FlowCellOptions": "options", "LiveOptions": "options", "Played": "playback", "ReadUntilClassifier": "classifier",
    "ReadUntilClient": "classifier", "named_classes": "playback", "of_class": "playback", "play": "playback",
    "played_text": "playback", "read_classes": "playback"
}  # fmt: skip

__getattr__, __dir__ = found_in(__name__, HOMES, __all__)
