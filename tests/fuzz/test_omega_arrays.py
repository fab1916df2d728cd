"""Scans of arrays with haploid males, missing and masked states, and calls without a phase, against the reference."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest
from helpers.alignments import assert_same_scan
from helpers.fuzzing import SECONDS, draws
from numpy.typing import NDArray

from oclgenomics.omega import ScanOptions, reference, scan
from oclgenomics.runtime import Engine
from oclgenomics.variation import Alignment

pytestmark = pytest.mark.fuzz

FILL, MISSING = -2, -1


class GenotypesLike:
    """As scikit-allel's GenotypeArray: calls, with a mask of calls or alleles and what is phased, if any."""

    def __init__(self, calls: NDArray[np.int8], mask: object = None, is_phased: object = None) -> None:
        self.calls, self.mask, self.is_phased = calls, mask, is_phased

    def __array__(self, dtype: object = None, copy: object = None) -> NDArray[np.int8]:
        return self.calls


def drawn_calls(rng: np.random.Generator) -> NDArray[np.int8]:
    """Genotypes, (sites, samples, 2), in which neighbours are correlated, males haploid, and some alleles missing."""
    sites, samples = int(rng.integers(12, 50)), int(rng.integers(3, 24))
    calls = np.empty((sites, samples, 2), np.int8)
    calls[0] = rng.random((samples, 2)) < 0.5
    for site in range(1, sites):
        fresh = rng.random((samples, 2)) < rng.choice([0.05, 0.2, 0.6])
        calls[site] = np.where(fresh, rng.random((samples, 2)) < rng.uniform(0.1, 0.9), calls[site - 1])
    males = rng.random(samples) < rng.choice([0.0, 0.3, 1.0])
    calls[:, males, 1] = FILL
    gone = rng.random(calls.shape) < rng.choice([0.0, 0.05, 0.3])
    calls[gone & (calls >= 0)] = MISSING
    return calls


def hidden(calls: NDArray[np.int8], mask: NDArray[np.bool_]) -> NDArray[np.int8]:
    """What is left of the calls under a mask of calls or alleles."""
    out = calls.copy()
    out[mask] = MISSING
    return out


def masked_forms(
    calls: NDArray[np.int8], rng: np.random.Generator
) -> tuple[object, NDArray[np.int8], NDArray[np.bool_]]:
    """Genotypes in one of the forms that they come in, the same without a mask, and which calls are phased."""
    shape = calls.shape[:2]
    share = rng.choice([0.0, 0.1, 0.4])
    by_call, by_allele = rng.random(shape) < share, rng.random(calls.shape) < share
    phased = [np.ones(shape, bool), np.zeros(shape, bool), rng.random(shape) < 0.9][int(rng.integers(3))]
    forms: list[Callable[[], tuple[object, NDArray[np.int8]]]] = [
        lambda: (calls, calls),
        lambda: (np.ma.array(calls, mask=by_allele), hidden(calls, by_allele)),
        lambda: (np.ma.array(calls, mask=np.ma.nomask), calls),
        lambda: (GenotypesLike(calls, by_call), hidden(calls, by_call)),
        lambda: (GenotypesLike(calls, by_allele), hidden(calls, by_allele)),
        lambda: (GenotypesLike(calls, by_call, phased), hidden(calls, by_call)),
    ]
    form = int(rng.integers(len(forms)))
    given, plain = forms[form]()
    if form < len(forms) - 1 and rng.random() < 0.5:
        phased = np.ones(shape, bool)
    return given, plain, phased


def expected_of(
    calls: NDArray[np.int8], phased: NDArray[np.bool_]
) -> tuple[NDArray[np.float64], NDArray[np.bool_], bool]:
    """Pair values of the sites that vary, which these are, and whether genotypes are correlated."""
    haploid = (calls[:, :, 1] == FILL) & (calls[:, :, 0] >= 0)
    both = (calls >= 0).all(axis=2)
    unphased = bool((both & (calls[:, :, 0] != calls[:, :, 1]) & ~phased).any())
    if unphased:
        seen = both | haploid
        dosage = np.where(haploid, 2 * calls[:, :, 0], calls.sum(axis=2)) * seen
        states = np.where(seen[:, :, None], np.where(haploid[:, :, None], calls[:, :, :1], calls), MISSING)
    else:
        states = calls.reshape(len(calls), -1)
        seen, dosage = states >= 0, np.maximum(states, 0)
    flat = states.reshape(len(calls), -1)
    varies = (flat == 0).any(axis=1) & (flat == 1).any(axis=1)
    return reference.pair_values(dosage[varies], seen[varies], unphased=unphased), varies, unphased


def test_arrays_are_scanned_as_the_reference_scans_them(engine: Engine) -> None:
    kinds = set()
    for _, rng in draws("omega arrays", SECONDS / 3):
        given, plain, phased = masked_forms(drawn_calls(rng), rng)
        positions = np.sort(rng.choice(3000, len(plain), replace=False)) + 1
        own = isinstance(given, GenotypesLike) and given.is_phased is not None
        alignment = Alignment.from_genotypes(positions, given, phased=None if own else phased)
        alignment.validate()
        values, varies, unphased = expected_of(plain, phased)
        assert alignment.unphased == unphased
        options = ScanOptions(
            grid=int(rng.integers(2, 9)), minwin=int(rng.integers(0, 300)), maxwin=int(rng.integers(400, 3000)),
            minsnps=int(rng.integers(1, 4)), kernel=str(rng.choice(["auto", "1", "2", "tiles"])),  # type: ignore[arg-type]
        )  # fmt: skip
        (found,) = scan([alignment], options, engine=engine)
        assert found.sites == varies.sum()
        if found.possible:
            assert_same_scan(found, values, positions[varies], options, 2e-4)
            kinds.add((unphased, bool((plain[:, :, 1] == FILL).any())))
    assert len(kinds) == 4
