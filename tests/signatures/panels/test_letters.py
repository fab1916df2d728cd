"""Letters as sets of nucleotides, against the table of IUPAC."""

from __future__ import annotations

import numpy as np

from oclgenomics.signatures.panels.letters import ANY, COMPLEMENTS, IUPAC, LETTERS, SETS, is_concrete, sets_of

NUCLEOTIDES = {
    "A": "A", "C": "C", "G": "G", "T": "T", "U": "T", "R": "AG", "Y": "CT", "S": "CG", "W": "AT", "K": "GT", "M": "AC",
    "B": "CGT", "D": "AGT", "H": "ACT", "V": "ACG", "N": "ACGT",
}  # fmt: skip
COMPLEMENT = dict(zip("ACGTRYSWKMBDHVN", "TGCAYRSWMKVHDBN", strict=True))


def test_every_letter_is_the_set_of_its_nucleotides():
    assert set(IUPAC) == set(NUCLEOTIDES)
    for letter, nucleotides in NUCLEOTIDES.items():
        bits = sum(1 << "ACGT".index(one) for one in nucleotides)
        assert IUPAC[letter] == SETS[ord(letter)] == SETS[ord(letter.lower())] == bits
    assert ANY == IUPAC["N"] == 15
    known = {ord(letter) for letter in NUCLEOTIDES} | {ord(letter.lower()) for letter in NUCLEOTIDES}
    assert [byte for byte in range(256) if SETS[byte]] == sorted(known)


def test_letters_of_sets():
    assert len(LETTERS) == 16
    assert [SETS[ord(letter)] for letter in LETTERS] == list(range(16))


def test_complements():
    for letter, other in COMPLEMENT.items():
        assert COMPLEMENTS[IUPAC[letter]] == IUPAC[other]
    np.testing.assert_array_equal(COMPLEMENTS[COMPLEMENTS], np.arange(16))


def test_sets_of_texts():
    assert sets_of("acGTuN").tolist() == sets_of(b"acGTuN").tolist() == [1, 2, 4, 8, 8, 15]
    assert sets_of(bytes(range(256))).tolist() == SETS.tolist()
    assert sets_of("").tolist() == []
    assert sets_of("ACGT").dtype == np.uint8
    assert sets_of("ACGT").flags.writeable


def test_concrete_letters():
    sets = np.arange(16, dtype=np.uint8)
    assert np.flatnonzero(is_concrete(sets)).tolist() == [1, 2, 4, 8]
