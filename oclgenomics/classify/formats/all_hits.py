"""The column of MetaCache's text that lists all windows that a read hit."""

from __future__ import annotations

from itertools import accumulate, pairwise

import numpy as np

from oclgenomics.classify.formats.lines import NameColumn
from oclgenomics.classify.formats.taxon_words import TaxonWords
from oclgenomics.classify.hits import Hits
from oclgenomics.classify.taxonomy.ranks import RANKS, SEQUENCE
from oclgenomics.classify.taxonomy.tree import NO_TAXON
from oclgenomics.sequence.name_list import NameList

__all__ = ["all_hits_column"]


def all_hits_column(located: Hits, words: TaxonWords, lowest: str, separator: str) -> NameColumn:
    """Return the column, the separator before it: `target/window:hits,` or `taxon:hits,` for each window.

    A text for each window is made on the host, so this column is slow.

    Parameters
    ----------
    located : Hits
    words : TaxonWords
    lowest : str
        Windows are shown by the taxon of this rank, or by the target where it has none.
    separator : str
    """
    slot = RANKS.index(lowest)
    labels = {target: _label(words, target, slot) for target in np.unique(located.targets).tolist()}
    rows = zip(located.targets.tolist(), located.windows.tolist(), located.hits.tolist(), strict=True)
    if slot == SEQUENCE:
        texts = [f"{labels[target]}/{window}:{hits},".encode() for target, window, hits in rows]
    else:
        texts = [f"{labels[target]}:{hits},".encode() for target, _, hits in rows]
    before = separator.encode()
    ends = np.fromiter(accumulate(map(len, texts), initial=0), np.int64, len(texts) + 1)
    starts = ends[located.offsets] + len(before) * np.arange(len(located.offsets))
    joined = bytearray()
    for begin, end in pairwise(located.offsets.tolist()):
        joined += before
        joined += b"".join(texts[begin:end])
    return NameColumn(NameList(np.frombuffer(bytes(joined), np.uint8), starts))


def _label(words: TaxonWords, target: int, slot: int) -> str:
    number = words.taxa + target
    at_rank = words.at_rank(number, slot)
    return words.name(number if at_rank == NO_TAXON else at_rank)
