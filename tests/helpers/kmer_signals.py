"""The expected signal of sequences letter by letter, and small models and squiggles."""

from __future__ import annotations

import itertools
from typing import NamedTuple

import numpy as np

from oclgenomics.signals import KmerModel
from oclgenomics.signals.kmers import Molecule

__all__ = ["Column", "expected_tracks", "random_model"]

PAIRS = {"A": "T", "C": "G", "G": "C", "T": "A"}


class Column(NamedTuple):
    """A column of a squiggle."""

    level: float
    record: int
    strand: int
    position: int


def random_model(k: int, seed: int = 1) -> KmerModel:
    """A model with levels that tell all k-mers apart."""
    rng = np.random.default_rng(seed)
    return KmerModel(f"{k}mers", k, rng.permutation(4**k) / 4**k * 60 + 60, rng.uniform(1, 2, 4**k))


def expected_tracks(records: list[str], model: KmerModel, molecule: Molecule) -> list[list[Column]]:
    """The columns of each track, in the order of a squiggle."""
    level_of = {"".join(kmer): model.mean[i] for i, kmer in enumerate(itertools.product("ACGT", repeat=model.k))}
    tracks: list[list[Column]] = []
    for strand in (0, 1) if molecule == "dna" else (0,):
        for number, letters in enumerate(records):
            text = letters.upper().replace("U", "T")
            places = list(range(len(text) - model.k + 1))
            if strand == 1 or molecule == "rna":
                places.reverse()
            before = None
            for place in places:
                kmer = text[place : place + model.k]
                if not set(kmer) <= set("ACGT"):
                    continue
                if strand == 1:
                    kmer = "".join(PAIRS[letter] for letter in reversed(kmer))
                if before is None or abs(place - before) > 1:
                    tracks.append([])
                tracks[-1].append(Column(level_of[kmer], number, strand, place))
                before = place
    return tracks
