"""Genes of an annotation: reading them from GFF3, GTF or BED, and which lie at or nearest to a place."""

from __future__ import annotations

import os
import re
from collections.abc import Iterator
from dataclasses import dataclass
from urllib.parse import unquote

import numpy as np
from numpy.typing import NDArray

from oclgenomics.errors import InputError
from oclgenomics.io.numbers import whole_number
from oclgenomics.io.source import Source
from oclgenomics.variation.bed import columns_of, is_region, region_of, text_lines

COLUMNS = 9  # of GFF3 and GTF
GENE_TYPE = re.compile(rb"gene|pseudogene|\w+_gene")
GTF_ATTRIBUTE = re.compile(r'(\w+) +"([^"]*)"')
NAMES = ("Name", "gene_name", "gene", "gene_id", "ID")  # attributes that name a gene, the best first

Gene = tuple[str, int, int, str]


@dataclass(frozen=True, eq=False)
class Genes:
    """Genes by chromosome, in ascending order of their starts.

    Attributes
    ----------
    starts, ends : dict of str to ndarray of int64, shape (genes,)
        First and last bp, counted from 1.
    names : dict of str to list of str
    source : str
        Where they come from, for messages.
    """

    starts: dict[str, NDArray[np.int64]]
    ends: dict[str, NDArray[np.int64]]
    names: dict[str, list[str]]
    source: str = ""

    def __len__(self) -> int:
        return sum(map(len, self.names.values()))

    def has(self, chromosome: str) -> bool:
        """Say whether there is any gene on a chromosome, which may be called with or without 'chr'."""
        return self._known(chromosome) is not None

    def overlapping(self, chromosome: str, first: int, last: int) -> list[str]:
        """Return the names of the genes that have any bp from `first` to `last`, in order of their starts."""
        known = self._known(chromosome)
        if known is None:
            return []
        found = np.flatnonzero((self.starts[known] <= last) & (self.ends[known] >= first))
        return [self.names[known][number] for number in found.tolist()]

    def nearest(self, chromosome: str, position: float) -> tuple[str, int] | None:
        """Return the gene nearest to a position, the first of several, and the bp to it: 0 within; None without any."""
        known = self._known(chromosome)
        if known is None:
            return None
        distance = np.maximum(np.maximum(self.starts[known] - position, position - self.ends[known]), 0)
        best = int(np.argmin(distance))
        return self.names[known][best], round(float(distance[best]))

    def _known(self, chromosome: str) -> str | None:
        other = chromosome.removeprefix("chr") if chromosome.startswith("chr") else f"chr{chromosome}"
        return next((name for name in (chromosome, other) if name in self.names), None)


def read_genes(path: str | os.PathLike[str]) -> Genes:
    """Read the genes of a GFF3, GTF or BED file, uncompressed or compressed; its lines say which it is.

    Of GFF3 and GTF the features are taken whose type is a gene ('gene', 'pseudogene', 'ncRNA_gene'). A GTF without any
    has genes from the first to the last bp of the features of one `gene_id`. Every line of a BED file is a gene.

    Raises
    ------
    InputError
        The file cannot be read, or holds no gene; the message names the line that is wrong.
    """
    found: dict[str, list[tuple[int, int, str]]] = {}
    with Source(path) as source:
        for chromosome, first, last, name in _genes(source):
            found.setdefault(chromosome, []).append((first, last, name))
        name = source.name
    if not found:
        raise InputError("holds no gene: give GFF3, GTF or BED with genes", source=name)
    for genes in found.values():
        genes.sort()
    starts, ends = (
        {chromosome: np.array([gene[side] for gene in genes], np.int64) for chromosome, genes in found.items()}
        for side in (0, 1)
    )
    return Genes(starts, ends, {chromosome: [gene[2] for gene in genes] for chromosome, genes in found.items()}, name)


def _genes(source: Source) -> Iterator[Gene]:
    """The genes of the lines of a file, and for want of them those that features of a GTF make up."""
    annotated: bool | None = None
    spans: dict[tuple[str, str], tuple[int, int, str]] = {}
    any_gene = False
    for number, line in enumerate(text_lines(source), start=1):
        if line.startswith(b"##FASTA"):
            break
        if not is_region(line):
            continue
        columns = columns_of(line)
        if annotated is None:
            annotated = len(columns) == COLUMNS and columns[3].isdigit() and columns[4].isdigit()
        if not annotated:
            chromosome, start, end = region_of(columns, source.name, number)
            name = columns[3].decode("utf-8", "replace") if len(columns) > 3 else f"{chromosome}:{start + 1}-{end}"
            yield chromosome, start + 1, max(end, start + 1), name
            continue
        is_gene = len(columns) == COLUMNS and GENE_TYPE.fullmatch(columns[2]) is not None
        if len(columns) == COLUMNS and not is_gene and (any_gene or b"gene_id" not in columns[8]):
            continue
        chromosome, first, last, attributes = _feature(columns, source.name, number)
        name = next((attributes[key] for key in NAMES if attributes.get(key)), f"{chromosome}:{first}-{last}")
        if is_gene:
            any_gene = True
            yield chromosome, first, last, name.removeprefix("gene:")
        else:
            key = chromosome, attributes.get("gene_id", name)
            before = spans.get(key, (first, last, name))
            spans[key] = min(first, before[0]), max(last, before[1]), before[2]
    if not any_gene:
        yield from ((key[0], *span) for key, span in spans.items())


def _feature(columns: list[bytes], source: str, line: int) -> tuple[str, int, int, dict[str, str]]:
    """Chromosome, first and last bp, and attributes of a line of GFF3 or GTF."""
    words = columns[3:5] if len(columns) == COLUMNS else (b"", b"")
    first, last = (whole_number(word) if word.isdigit() else None for word in words)
    if first is None or last is None or not 1 <= first <= last:
        wrong = "is no feature: nine columns between tabs, of which the fourth and fifth are its first and last bp"
        raise InputError(wrong, source=source, line=line)
    chromosome, text = (columns[place].decode("utf-8", "replace") for place in (0, 8))
    pairs = GTF_ATTRIBUTE.findall(text)
    if not pairs:
        pairs = [(key.strip(), unquote(value)) for key, _, value in (one.partition("=") for one in text.split(";"))]
    return chromosome, first, last, dict(pairs)
