"""Tree sequences of tskit (extra `tskit`): one alignment a file, decoded site by site and packed in blocks."""

from __future__ import annotations

import os
import re
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

import numpy as np
from numpy.typing import NDArray

from oclgenomics.errors import InputError, UsageError, library_errors
from oclgenomics.io.raw_file import Progress
from oclgenomics.io.source import Source
from oclgenomics.lazy_names import optional
from oclgenomics.variation.alignment import Alignment
from oclgenomics.variation.alleles import LETTER_CODES, MAX_ALTERNATIVES, NO_ALLELE, ONE, ZERO, is_plain
from oclgenomics.variation.bed import MAX_BP
from oclgenomics.variation.planes import MISSING, Genotypes, Planes
from oclgenomics.variation.readers.chromosome import Chromosome
from oclgenomics.variation.samples import columns_of

NAME_KEYS = ("name", "sample_id", "variant_data_sample_id")  # the last is tsinfer's


@dataclass
class TreeSamples:
    """The haplotypes of a tree sequence.

    Attributes
    ----------
    columns : ndarray of int64, shape (haplotypes,)
        Which of the sample nodes they are; 2i and 2i + 1 belong to individual i when the ploidy is 2.
    ploidy : int
        1 or 2.
    names : tuple of str
        Names of the individuals, none if they have none.
    """

    columns: NDArray[np.int64]
    ploidy: int
    names: tuple[str, ...]


def tree_samples(trees: Any, keep: Sequence[str] | None, source: str) -> TreeSamples:
    """Find the haplotypes: by individual if each has one sample node, or each has two; else in the order of the nodes.

    Parameters
    ----------
    trees : tskit.TreeSequence
        The tree sequence.
    keep : sequence of str, optional
        Names of the individuals to keep.
    source : str
        Path of the input.

    Raises
    ------
    InputError
        There is no sample node, metadata that cannot be read, or no individual of a name.
    UsageError
        `keep` for individuals without names.
    """
    if not trees.num_samples:
        raise InputError("the tree sequence has no sample nodes", source=source)
    owners = trees.nodes_individual[trees.samples()]
    individuals, sizes = np.unique(owners, return_counts=True)
    ploidy, columns = 1, np.arange(len(owners))
    names: tuple[str, ...] = ()
    if owners.min() >= 0 and sizes.min() == sizes.max() <= 2:
        ploidy = int(sizes[0])
        columns = np.argsort(owners, kind="stable")
        names = _names(trees, individuals, source)
    if keep is not None and not names:
        raise UsageError(
            f"{source}: samples cannot be chosen, because the individuals have no names of their own in their metadata "
            f"({', '.join(NAME_KEYS)}); leave `samples` out"
        )
    kept = columns_of(names, keep, source)
    if kept is None:
        return TreeSamples(columns, ploidy, names)
    return TreeSamples(columns.reshape(-1, ploidy)[kept].ravel(), ploidy, tuple(names[i] for i in kept))


def _names(trees: Any, individuals: NDArray[np.int64], source: str) -> tuple[str, ...]:
    """The first of `NAME_KEYS` that names every individual differently; none if there is no such key."""
    with library_errors("the metadata of the individuals cannot be read", source):  # by the codec of its own schema
        metadata = [trees.individual(i).metadata for i in individuals.tolist()]
    if not all(isinstance(entry, dict) for entry in metadata):
        return ()
    for key in NAME_KEYS:
        names = tuple(entry.get(key) for entry in metadata)
        if all(isinstance(name, str) and name for name in names) and len(set(names)) == len(names):
            return names
    return ()


_BASES = re.compile(r"[ACGTNacgtn*]+|<.*>")
NEED = "tree sequences need tskit: pip install 'oclgenomics[tskit]'"
KNOWN_KINDS = 1 << 12  # lists of alleles that are judged once
_WRAPPED = np.uint8(255)  # tskit's missing state, -1, in eight bits


@dataclass(frozen=True)
class _Kind:
    """What the alleles of a site are: its letter codes, or the reason to leave it out.

    `symbols` is their number where they are no bases; `incomplete` says that some haplotypes have none.
    """

    codes: bytes
    reason: str = ""
    symbols: int = 0
    incomplete: bool = False


@lru_cache(KNOWN_KINDS)
def _kind_of(listed: tuple[str | None, ...]) -> _Kind:
    """Judge the alleles that tskit lists; a missing state adds None at their end."""
    alleles = [allele for allele in listed if allele is not None]
    incomplete = len(alleles) < len(listed)
    letters = [int(LETTER_CODES[ord(text)]) if len(text) == 1 and text.isascii() else NO_ALLELE for text in alleles]
    bases = NO_ALLELE not in letters
    if len(alleles) > MAX_ALTERNATIVES + 1 if bases else any(_BASES.fullmatch(text) for text in alleles):
        return _Kind(b"", "not a SNP")
    if len(alleles) < 2:
        return _Kind(b"", "no alternative allele")
    if bases:
        return _Kind(bytes(letters).ljust(MAX_ALTERNATIVES + 1, bytes([NO_ALLELE])), incomplete=incomplete)
    codes = bytes([ZERO, ONE]).ljust(MAX_ALTERNATIVES + 1, bytes([NO_ALLELE]))
    return _Kind(codes, symbols=len(alleles), incomplete=incomplete)


def read_trees(
    path: str,
    *,
    samples: Sequence[str] | None = None,
    block_bytes: int = 1 << 20,
    progress: Progress | None = None,
) -> Iterator[Alignment]:
    """Read a tree sequence.

    Parameters
    ----------
    path : str
        File that tskit has written; not packed, and no stream.
    samples : sequence of str, optional
        Names of the individuals to keep, in the order of the file; all if not given.
    block_bytes : int
        Genotypes held unpacked; results do not depend on it.
    progress : callable, optional
        See `Progress`; bytes of the file in proportion to the sites read.

    Yields
    ------
    Alignment
        Positions as `tskit.TreeSequence.write_vcf` has them: rounded to whole bp, none added.

    Raises
    ------
    InputError
        No tree sequence, a damaged file, no sample nodes, or a sample that it does not have.
    UsageError
        Samples to keep, where individuals have no names.
    MissingDependencyError
        tskit is not installed.
    """
    trees = _load(path)
    people = tree_samples(trees, samples, path)
    individuals = len(people.columns) // people.ploidy
    chromosome = Chromosome("1", 1, individuals, people.names, path)
    positions = np.rint(trees.sites_position)
    if (positions > MAX_BP).any():
        raise InputError(f"sites beyond {MAX_BP} bp", source=path)
    positions = positions.astype(np.int64)
    size = os.path.getsize(path)
    for stop, sites, genotypes, skipped in _blocks(trees, people, block_bytes, path):
        chromosome.add(positions[sites], genotypes)
        chromosome.skip(skipped)
        if progress is not None:
            progress(size * stop // max(1, len(positions)), size)
    yield chromosome.finish("ignore")  # a tree sequence is phased


def _load(path: str) -> Any:
    """The tree sequence of a file."""
    if path == "-":
        raise InputError("a tree sequence is read from a file, not from standard input", source=path)
    with Source(path) as source:  # says what is wrong with a file that cannot be opened
        if source.compressed:
            raise InputError("a packed tree sequence; unpack it with gzip -d", source=path)
    tskit = optional("tskit", f"{path}: {NEED}")
    with library_errors("no tree sequence, or a damaged one", path):
        return tskit.load(path)


def _blocks(
    trees: Any, people: TreeSamples, block_bytes: int, path: str
) -> Iterator[tuple[int, NDArray[np.int64], Genotypes, Counter[str]]]:
    """Blocks of sites: end of the block, sites kept, their genotypes, and how many were left out for what reason."""
    tskit = optional("tskit", NEED)
    variant = tskit.Variant(trees)  # of all samples, for which tskit has a faster way than for some
    columns = None if np.array_equal(people.columns, np.arange(trees.num_samples)) else people.columns
    rows = max(1, block_bytes // trees.num_samples)
    states = np.empty((min(rows, trees.num_sites), trees.num_samples), np.uint8)
    for start in range(0, max(1, trees.num_sites), rows):
        stop = min(start + rows, trees.num_sites)
        sites, kinds, skipped = _decode(variant, start, stop, columns, states, path)
        codes = np.frombuffer(b"".join(kind.codes for kind in kinds), np.uint8).reshape(-1, MAX_ALTERNATIVES + 1)
        read = states[: len(sites)] if columns is None else states[: len(sites), columns]
        if any(kind.incomplete for kind in kinds):
            read[read == _WRAPPED] = MISSING
        planes = Planes(codes, is_plain(codes), len(people.columns), people.ploidy)
        planes.add_states(np.arange(len(sites)), read)
        yield stop, np.array(sites, np.int64), planes.finish(unphased=0), skipped


def _decode(
    variant: Any, start: int, stop: int, columns: NDArray[np.int64] | None, states: NDArray[np.uint8], path: str
) -> tuple[list[int], list[_Kind], Counter[str]]:
    """Decode sites into the first rows of `states`: which are kept, their kinds, and the reasons of the others."""
    sites: list[int] = []
    kinds: list[_Kind] = []
    skipped: Counter[str] = Counter()
    for site in range(start, stop):
        variant.decode(site)
        try:
            kind = _kind_of(variant.alleles)
        except UnicodeDecodeError as error:
            raise InputError(f"an allele of site {site} is no UTF-8 text", source=path) from error
        genotypes = variant.genotypes
        reason = kind.reason
        if kind.symbols > 2:
            genotypes = _two_states(genotypes, columns)
            reason = "" if genotypes is not None else "more than two states"
        if reason:
            skipped[reason] += 1
            continue
        states[len(sites)] = genotypes
        sites.append(site)
        kinds.append(kind)
    return sites, kinds, skipped


def _two_states(genotypes: NDArray[Any], columns: NDArray[np.int64] | None) -> NDArray[np.uint8] | None:
    """Genotypes of a site of many alleles with the two that are seen as 0 and 1; None if more are seen."""
    chosen = genotypes if columns is None else genotypes[columns]
    seen = np.unique(chosen[chosen >= 0])
    if len(seen) > 2:
        return None
    second = genotypes == seen[-1] if len(seen) == 2 else np.zeros(len(genotypes), bool)
    return np.where(genotypes < 0, -1, second)
