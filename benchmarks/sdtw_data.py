"""References, reads and variants of the sDTW benchmark."""

from __future__ import annotations

import tempfile
from collections.abc import Mapping
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from oclgenomics.sdtw.options import CRESCENT, SQUIGGLEFILTER, AlignOptions
from oclgenomics.sdtw.squiggles.build import build_squiggle
from oclgenomics.sdtw.squiggles.squiggle import Squiggle
from oclgenomics.signals import read_model
from oclgenomics.simulate.signals.drawing import PRESETS
from oclgenomics.simulate.signals.reads import random_genome, simulate_signals

__all__ = ["MODEL", "PREFIX", "REFERENCES", "SEED", "VARIANTS", "Reads", "make_reads", "make_references"]

SEED = 7
MODEL = "r9.4.1"
PREFIX = 2000  # samples of a read
REFERENCES = {"lambda": 48_502, "HAdV-B": 35_343, "OC43": 30_741, "SARS-CoV-2": 29_903, "ebolavirus": 18_935}  # bp
VARIANTS = {
    "default": AlignOptions(),
    "step 1": AlignOptions(step=1),
    "bits 8": AlignOptions(bits=8),
    "absolute": AlignOptions(cost="absolute"),
    "dwell bonus": AlignOptions(bonus="dwell"),
    "Crescent": CRESCENT,
    "SquiggleFilter": SQUIGGLEFILTER,
    "float32": AlignOptions(arithmetic="float32"),
}


@dataclass(frozen=True, eq=False)
class Reads:
    """Reads of `PREFIX` samples each.

    Attributes
    ----------
    samples : ndarray, int16
    first : ndarray, int64, (reads,)
    """

    samples: NDArray[np.int16]
    first: NDArray[np.int64]

    def __len__(self) -> int:
        return len(self.first)

    def some(self, count: int) -> Reads:
        """The first ones."""
        return Reads(self.samples, self.first[:count])


def make_references(files: Mapping[str, str], scale: float) -> dict[str, Squiggle]:
    """The paper's references on both strands: of a file where there is one, else random letters, as many.

    Parameters
    ----------
    files : mapping
        FASTA by name of reference.
    scale : float
        Times which random ones have the paper's letters.
    """
    model, found = read_model(MODEL), {}
    with tempfile.TemporaryDirectory() as folder:
        for name, letters in REFERENCES.items():
            path = Path(folder) / f"{name}.fasta"
            genome = random_genome(name, int(letters * scale), 0.5, 1, SEED)
            path.write_bytes(b">" + name.encode() + b"\n" + genome.letters[0] + b"\n")
            found[name] = build_squiggle(files.get(name, path), model, name=name)
    return found


def make_reads(count: int) -> Reads:
    """Simulated signals of a random genome of the length of lambda. What they hold does not change the speed."""
    genome = random_genome("lambda", REFERENCES["lambda"], 0.5, count, SEED)
    scenario = replace(PRESETS["normal"], samples=(PREFIX, PREFIX))
    batches = list(simulate_signals([genome], read_model(MODEL), scenario, SEED))
    samples = np.concatenate([batch.signals.samples for batch in batches])
    if len(samples) != count * PREFIX:
        raise SystemExit("a simulated read is shorter than the others")
    return Reads(samples, np.arange(count, dtype=np.int64) * PREFIX)
