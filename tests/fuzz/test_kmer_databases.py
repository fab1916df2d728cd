"""K-mer databases forged under right checksums: whoever reads all of one refuses it, or finds k-mers in order."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from helpers.fuzzing import SECONDS, command, draws
from helpers.kmer_forgery import keys_in_order, write_sections
from helpers.kmer_sets import write_database

from oclgenomics.errors import InputError
from oclgenomics.kmers.database.keys import is_ascending
from oclgenomics.kmers.database.kmer_set import CountedKmers
from oclgenomics.kmers.database.layout import SECTION_KMERS
from oclgenomics.kmers.device.reader import KmerDatabase
from oclgenomics.runtime import Engine

pytestmark = pytest.mark.fuzz

NEAR = 3  # k-mers at a border
COMMANDS = (
    "kmers dump FORGED -o OUT", "kmers dump FORGED -o OUT.npz --format npz", "kmers merge FORGED SOUND -o OUT",
    "kmers filter FORGED x.fa -o OUT -d cpu", "kmers matrix FORGED SOUND -o OUT",
    "kmers count x.fa -k 9 --no-canonical --only FORGED -o OUT -d cpu", "kmers query FORGED --file x.fa -o OUT",
)  # fmt: skip


def forge(path: Path, k: int, rng: np.random.Generator) -> bool:
    """Change a first or a last k-mer or two, here or in the table; return whether what is written is in order."""
    keys = keys_in_order(k)
    starts = range(0, keys.shape[1], SECTION_KMERS)
    sections = [keys[:, start : start + SECTION_KMERS].copy() for start in starts]
    firsts = keys[:, list(starts)].copy()
    for _ in range(int(rng.integers(3))):
        number, place = int(rng.integers(len(sections))), int(rng.choice([0, -1]))
        other = keys[:, np.clip(starts[number] + int(rng.integers(-NEAR, NEAR + 1)), 0, None)]
        if rng.random() < 0.3:
            other = keys[:, int(rng.integers(keys.shape[1]))].copy()
            other[-1] |= np.uint64(int(rng.integers(2)) << 63)
        target = firsts[:, number] if rng.random() < 0.3 else sections[number][:, place]
        target[:] = other
        if rng.random() < 0.5:
            firsts[:, number] = sections[number][:, 0]
    write_sections(path, k, sections, firsts)
    whole = np.concatenate(sections, axis=1)
    told = all((firsts[:, at] == section[:, 0]).all() for at, section in enumerate(sections))
    return told and is_ascending(whole) and not int(whole[-1, -1]) >> (2 * k - 64 * (len(whole) - 1))


def test_right_checksums(engine: Engine, tmp_path: Path) -> None:
    """Host and device say the same."""
    path, refused = tmp_path / "x", 0
    for number, rng in draws("forged k-mers", SECONDS / 2, each=0.02):
        sound = forge(path, (9, 32, 40)[number % 3], rng)
        for reader in (None, engine):
            if sound:
                with KmerDatabase.open(path) as database:
                    assert is_ascending(database.keys_counts(reader).keys)
                continue
            with pytest.raises(InputError) as caught, KmerDatabase.open(path) as database:
                database.keys_counts(reader)
            assert "\n" not in str(caught.value), number
            refused += 1
    assert refused


def test_commands(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    Path("x.fa").write_text(">r\nACGTACGTACGT\n")
    keys = np.array([[5, 9]], np.uint64)
    write_database(Path("SOUND"), CountedKmers(9, False, keys, np.ones(2, np.uint32)))
    for number, rng in draws("commands on forged k-mers", SECONDS / 2, each=0.02):
        sound = forge(Path("FORGED"), 9, rng)
        words = COMMANDS[number % len(COMMANDS)].split()
        some = "query" in words or "--only" in words  # which read no more sections than they need
        command([*words, "-q"], (0,) if sound else (0, 3) if some else (3,))
