"""Builders of small alignments from plain matrices."""

from __future__ import annotations

import numpy as np

from oclgenomics.omega import reference
from oclgenomics.omega.options import ScanOptions
from oclgenomics.omega.result import Scan
from oclgenomics.variation.alignment import Alignment


def pack(states: np.ndarray) -> np.ndarray:
    """0/1 states (sites, haplotypes) as word-major bits (words, sites)."""
    sites, haplotypes = states.shape
    padded = np.zeros((sites, -(-haplotypes // 32) * 32), np.uint8)
    padded[:, :haplotypes] = states
    return np.ascontiguousarray(np.packbits(padded, axis=1, bitorder="little").view(np.uint32).T)


def make_alignment(
    states: np.ndarray, positions: np.ndarray, observed: np.ndarray | None = None, *, unphased: bool = False
) -> Alignment:
    """An alignment of binary sites; `unphased` pairs neighbouring haplotypes to samples."""
    seen = np.ones_like(states) if observed is None else observed.astype(np.uint8)
    return Alignment(
        name="1",
        positions=np.asarray(positions, np.int64),
        bits=pack(states.astype(np.uint8) * seen),
        valid=None if observed is None else pack(seen),
        haplotypes=states.shape[1],
        letters=np.tile(np.frombuffer(b"01", np.uint8), (len(states), 1)),
        ploidy=2 if unphased else 1,
        unphased=unphased,
    )


def make_multiallelic(states: np.ndarray, positions: np.ndarray, observed: np.ndarray | None = None) -> Alignment:
    """An alignment of sites with states 0 to 3 (A, C, G, T); those with three or more get a row for each state."""
    seen = np.ones_like(states, bool) if observed is None else observed.astype(bool)
    present = [np.unique(row[ok]) for row, ok in zip(states, seen, strict=True)]
    second = np.array([row != values[0] for row, values in zip(states, present, strict=True)]) & seen
    rows = [(s, a) for s, values in enumerate(present) if len(values) > 2 for a in values]
    bits = np.array([(states[s] == a) & seen[s] for s, a in rows], np.uint8).reshape(-1, states.shape[1])
    letters = np.frombuffer(b"ACGT", np.uint8)
    alignment = make_alignment(second.astype(np.uint8), positions, observed)
    alignment.letters = letters[np.array([[values[0], values[1]] for values in present])]
    alignment.alphabet = "dna"
    alignment.multi_site = np.array([s for s, _ in rows], np.int32)
    alignment.multi_letter = letters[np.array([a for _, a in rows], int)]
    alignment.multi_bits = pack(bits)
    return alignment


def correlated_states(rng: np.random.Generator, sites: int, haplotypes: int) -> np.ndarray:
    """Binary sites in runs of correlated neighbours, every one of them varying; uint8 (sites, haplotypes)."""
    founders = rng.random((sites // 5 + 1, haplotypes)) < rng.uniform(0.05, 0.5, (sites // 5 + 1, 1))
    states = founders[np.arange(sites) // 5] ^ (rng.random((sites, haplotypes)) < 0.1)
    states[:, 0], states[:, -1] = True, False
    return states.astype(np.uint8)


def tied_states(rng: np.random.Generator, sites: int, haplotypes: int) -> np.ndarray:
    """Varying sites of few haplotypes, half of them as the site before: many windows have one omega."""
    states = rng.integers(0, 2, (sites, haplotypes)).astype(np.uint8)
    states[:, 0], states[:, -1] = 0, 1
    for site in range(1, sites):
        if rng.random() < 0.5:
            states[site] = states[site - 1]
    return states


def random_positions(rng: np.random.Generator, sites: int, length: int = 100_000) -> np.ndarray:
    """Sorted positions in bp, some of them equal; int64 (sites,)."""
    return np.sort(rng.integers(1, length, sites))


def assert_same_scan(
    scan: Scan, values: np.ndarray, positions: np.ndarray, options: ScanOptions, tolerance: float = 1e-5
) -> None:
    """The scan agrees with the oracle on the pairwise `values`: omega within `tolerance`, and the reported windows
    have that omega."""
    names = ("grid", "minwin", "maxwin", "minsnps", "border")
    rows = reference.scan(values, positions, **{name: getattr(options, name) for name in names})
    np.testing.assert_allclose(scan.positions, [row[0] for row in rows])
    np.testing.assert_allclose(scan.omega, [row[1] for row in rows], rtol=tolerance, atol=0)
    for at, omega, left, right in zip(scan.positions, scan.omega, scan.left, scan.right, strict=True):
        if omega > 0:
            assert _omega_between(values, positions, at, left, right) >= omega * (1 - tolerance)


def _omega_between(values: np.ndarray, positions: np.ndarray, at: float, left: int, right: int) -> float:
    """The largest omega of windows with these borders in bp; several sites may share a position."""
    centre = int(np.searchsorted(positions, int(at), side="right")) - 1
    lefts, rights = np.flatnonzero(positions == left), np.flatnonzero(positions == right)
    return max(reference.omega_of_window(values, centre, i, j) for i in lefts for j in rights if i <= centre < j)


def assert_same(found: Alignment, expected: Alignment) -> None:
    """All attributes are equal, those that are arrays also in their type; only the input may differ."""
    for name, value in vars(expected).items():
        other = getattr(found, name)
        if isinstance(value, np.ndarray):
            assert other is not None, name
            assert other.dtype == value.dtype, name
            np.testing.assert_array_equal(other, value, err_msg=name)
        elif name != "source":
            assert other == value, name


def check_same(found: list[Alignment] | str, expected: list[Alignment] | str) -> None:
    """Alignments are equal one by one, or what is said instead of them is."""
    if isinstance(found, str) or isinstance(expected, str):
        assert found == expected
        return
    for one, other in zip(found, expected, strict=True):
        assert_same(one, other)
