"""Sketches of windows, made on the device."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from oclgenomics.classify.device.sketches import Sketches
from oclgenomics.classify.device.window_cut import WindowCut
from oclgenomics.classify.options import SketchOptions
from oclgenomics.runtime import DeviceArray, Engine
from oclgenomics.sequence.device_text import Text

__all__ = ["Sketcher"]

SOURCE = "classify/sketch_windows.cl"
CPU_ROUNDS = 16  # vectors of windows that a work-item takes, so that it seldom looks for a piece
MIN_ROOM = 1 << 12  # windows


class Sketcher:
    """Sketches the windows of one block after the other.

    Parameters
    ----------
    engine : Engine
    options : SketchOptions
    """

    def __init__(self, engine: Engine, options: SketchOptions) -> None:
        self._engine, self._options = engine, options
        cpu = engine.tuning.cpu
        self._lanes = engine.tuning.vector_bytes // 4 if cpu else 1
        self._rounds = CPU_ROUNDS if cpu else 1
        self._group = 1 if cpu else None  # the tuning's
        self._features: DeviceArray | None = None

    def sketch(self, text: Text, cut: WindowCut) -> Sketches:
        """Sketch windows of a text, in their order.

        The features lie in memory that the next call uses again.

        Parameters
        ----------
        text : Text
        cut : WindowCut
        """
        features = self._room(cut.size)
        if cut.size:
            engine, options = self._engine, self._options
            defines = {"TRIPLETS": options.min_triplets, "LOWER": options.soft_masked}
            kernel = engine.kernel(SOURCE, "sketch_windows", KMER=options.kmerlen, LANES=self._lanes, **defines)
            arrays = {name: engine.upload(array) for name, array in _arrays(cut).items()}
            engine.launch_items(
                kernel, -(-cut.size // (self._lanes * self._rounds)), lanes=self._group, **text.place, size=text.size,
                **arrays, pieces=len(cut.letters), windows=cut.size, winlen=options.winlen, stride=options.winstride,
                sketch=options.sketchlen, rounds=self._rounds, features=features,
            )  # fmt: skip
        return Sketches(features, cut.size)

    def _room(self, windows: int) -> DeviceArray:
        """Memory for the features of so many windows, of a quarter more where there is too little, so that it stays."""
        if self._features is None or self._features.shape[0] < windows:
            self._features = None  # which gives it back before more is taken
            room = max(MIN_ROOM, windows + windows // 4)
            self._features = self._engine.empty((room, self._options.sketchlen), np.uint32)
        return self._features


def _arrays(cut: WindowCut) -> dict[str, NDArray[np.uint32]]:
    return {"letters": cut.letters, "sizes": cut.sizes, "first": cut.first}
