"""MetaCache's list of the reads that hit each target (`-hits-per-ref`)."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from oclgenomics.classify.candidates import NO_TARGET
from oclgenomics.classify.formats.native_options import NativeOptions
from oclgenomics.classify.formats.native_taxa import NativeTaxa
from oclgenomics.classify.formats.taxon_words import TaxonWords
from oclgenomics.classify.options import SketchOptions
from oclgenomics.classify.result import ClassifiedReads
from oclgenomics.classify.taxonomy.lineages import Lineages

__all__ = ["TargetHits"]


class TargetHits:
    """The candidates of all reads that have as many hits as the read needs, by targets.

    A line holds the target, its windows, and for each read its number, the first window, how many more there are up to
    the last one, and the hits. Targets come in the order of the database, reads by the first window. All candidates are
    held in memory, 20 bytes each.

    Parameters
    ----------
    lineages : Lineages
    highest : str
        The rank up to which lineages are shown.
    sketch : SketchOptions
        Those of the database.
    options : NativeOptions
        How targets are shown.
    """

    def __init__(
        self, lineages: Lineages, highest: str, sketch: SketchOptions, options: NativeOptions | None = None
    ) -> None:
        self._lineages, self._sketch = lineages, sketch
        self._options = options or NativeOptions()
        self._taxa = NativeTaxa(TaxonWords(lineages), self._options, "sequence", highest)
        self._found: list[tuple[NDArray[np.int64], ...]] = []

    def add(self, part: ClassifiedReads) -> None:
        """Keep the candidates of a part."""
        candidates, needed = part.candidates, part.calls.hitmin[:, np.newaxis]
        read, place = np.nonzero((candidates.targets != NO_TARGET) & (candidates.hits >= needed))
        arrays = (candidates.targets, candidates.first, candidates.last, candidates.hits)
        self._found.append((part.reads.number + read, *(array[read, place].astype(np.int64) for array in arrays)))

    def text(self) -> str:
        """Write the list."""
        options, separator = self._options, self._options.separator
        headings = ("sequence", "windows_in_sequence")
        layout = separator.join([f" {name} " for name in headings]) + separator
        lines = [
            f"{options.comment}--- list of hits for each reference sequence ---\n",
            f"{options.comment}window start position within sequence = window_index * window_stride"
            f"(={self._sketch.winstride})\n",
            f"{options.comment}TABLE_LAYOUT: {layout}queryid/first_window_index+additional_windows:hits,queryid/...\n",
        ]
        if not self._found:
            return "".join(lines)
        reads, targets, first, last, hits = (np.concatenate(columns) for columns in zip(*self._found, strict=True))
        order = np.lexsort((reads, first, targets))
        rows = zip(*(column[order].tolist() for column in (reads + 1, first, last - first, hits)), strict=True)
        texts = [f"{read}/{begin}+{more}:{count}" for read, begin, more, count in rows]
        hit, begins, counts = np.unique(targets[order], return_index=True, return_counts=True)
        windows = self._lineages.targets.windows
        for target, begin, end in zip(hit.tolist(), begins.tolist(), (begins + counts).tolist(), strict=True):
            name = self._taxa.text(len(self._lineages.taxonomy) + target)
            lines.append(separator.join([name, f"{windows[target]}", ",".join(texts[begin:end])]) + "\n")
        return "".join(lines)
