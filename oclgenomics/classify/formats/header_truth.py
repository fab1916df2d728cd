"""What reads are of, as far as their headers tell, by the rules of MetaCache."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from oclgenomics.classify.building.identifiers import header_taxids, raw_id, without_version
from oclgenomics.classify.result import ClassifiedReads
from oclgenomics.classify.taxonomy.lineages import Lineages
from oclgenomics.classify.taxonomy.tree import NO_TAXON
from oclgenomics.errors import ParameterError
from oclgenomics.sequence.name_list import NEWLINE, NameList

__all__ = ["HeaderTruth"]


class HeaderTruth:
    """Finds the true taxa of reads: the target whose accession is in the header, else the taxid behind "taxid|".

    Of an accession that no target has, one with another version or none does. A taxon that fills no rank stands for
    the first one above it that does. Headers are read one by one on the host, so this is slow.

    Parameters
    ----------
    lineages : Lineages
        Of the database: taxa that it does not hold are not known.
    """

    def __init__(self, lineages: Lineages) -> None:
        self._lineages = lineages
        taxa, names = len(lineages.taxonomy), lineages.targets.names
        self._targets = {name: taxa + target for target, name in enumerate(names)}
        for target, name in enumerate(names):
            self._targets.setdefault(without_version(name), taxa + target)
        rows = lineages.at_rank
        self._ranked = np.append(rows[np.arange(len(rows)), (rows != NO_TAXON).argmax(axis=1)], np.int32(NO_TAXON))

    def of(self, part: ClassifiedReads) -> NDArray[np.int32]:
        """Return the true taxa of the reads of a part, of pairs by the first mates.

        Returns
        -------
        ndarray, int32 (reads,)
            Numbers in `Lineages`; `NO_TAXON` where the header does not tell.

        Raises
        ------
        UsageError
            The part does not have the records.
        """
        if not len(part):
            return np.zeros(0, np.int32)
        if not part.texts:
            raise ParameterError("ground_truth", "the query has to be asked for texts")
        headers = _headers(part.texts[0])
        by_taxid = self._lineages.taxonomy.find(header_taxids(headers))
        found = [
            self._target(raw_id(header, "ncbi"), taxon)
            for header, taxon in zip(headers, by_taxid.tolist(), strict=True)
        ]
        return self._ranked[found]

    def _target(self, accession: str, otherwise: int) -> int:
        named = self._targets.get(accession)
        return self._targets.get(without_version(accession), otherwise) if named is None else named


def _headers(texts: NameList) -> list[str]:
    """The first lines of records, without what marks them."""
    letters = texts.letters
    newlines = np.append(np.flatnonzero(letters == NEWLINE), len(letters))
    begins = texts.starts[:-1]
    ends = np.minimum(newlines[np.searchsorted(newlines, begins)], texts.starts[1:])
    data = letters.tobytes()
    return [
        data[begin + 1 : end].decode("utf-8", "replace").rstrip("\r")
        for begin, end in zip(begins.tolist(), ends.tolist(), strict=True)
    ]
