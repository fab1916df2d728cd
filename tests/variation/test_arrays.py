"""Alignments from arrays are those that the readers give for the same data, to the byte."""

from __future__ import annotations

import io
import tracemalloc
from pathlib import Path
from typing import Any
from unittest.mock import patch

import numpy as np
import pytest
from helpers.alignments import assert_same
from hypothesis import HealthCheck, given, settings, strategies as st
from numpy.typing import NDArray

from oclgenomics.errors import UsageError
from oclgenomics.variation import Alignment, ReadOptions, arrays as arrays_module, planes, read_alignments
from oclgenomics.variation.alleles import allele_codes, is_plain
from oclgenomics.variation.array_blocks import lies_by_sites
from oclgenomics.variation.site_parts import SiteParts
from oclgenomics.variation.sources import open_alignments
from oclgenomics.variation.writers import (
    MISSING,
    write_ms_head,
    write_ms_replicate,
    write_vcf_head,
    write_vcf_sites,
)

WIDTHS = [1, 2, 7, 8, 31, 32, 33, 63, 64, 65]
BASES = "ACGT"


@st.composite
def arrays(draw: st.DrawFn, states: int, even: bool = False) -> NDArray[np.uint8]:
    """States (sites, haplotypes) around the borders of words, with and without missing ones."""
    haplotypes = draw(st.sampled_from([width * 2 for width in WIDTHS] if even else WIDTHS))
    sites = draw(st.integers(0, 12))
    rng = np.random.default_rng(draw(st.integers(0, 1 << 30)))
    largest = rng.integers(1, states, sites, endpoint=True)  # so that some sites have two and some have more
    drawn = (rng.random((sites, haplotypes)) * largest[:, None]).astype(np.uint8)
    lost = rng.random((sites, haplotypes)) < draw(st.sampled_from([0, 0, 0.2, 1]))
    return np.where(lost, np.uint8(MISSING), drawn)


def places(sites: int) -> NDArray[np.int64]:
    return np.arange(1, sites + 1) * 3


def signed(states: NDArray[np.uint8]) -> NDArray[np.int8]:
    """As scikit-allel holds them: -1 where missing."""
    return np.where(states == MISSING, -1, states.astype(np.int8)).astype(np.int8)


def read_vcf(
    folder: Path, states: NDArray[np.uint8], names: NDArray[np.str_], unphased: NDArray[np.bool_] | None
) -> Alignment:
    """What comes of a VCF with these alleles; diploid if `unphased` is given."""
    samples = [f"s{i}" for i in range(states.shape[1] // (1 if unphased is None else 2))]
    text = io.BytesIO()
    write_vcf_head(text, "test", [("1", 1000)], samples)
    write_vcf_sites(text, "1", places(len(states)), ["".join(row) for row in names.tolist()], states, unphased)
    path = folder / "x.vcf"
    path.write_bytes(text.getvalue())
    (alignment,) = read_alignments(path)
    return alignment


def names_of(states: NDArray[np.uint8]) -> NDArray[np.str_]:
    """Three bases for sites with a third state, and two for the others, as `write_vcf_sites` writes them."""
    rng = np.random.default_rng(len(states))
    names = np.array([rng.permutation(list(BASES))[:3] for _ in states], "U1").reshape(-1, 3)
    return np.where((states == 2).any(axis=1)[:, None] | (np.arange(3) < 2), names, "")


SAME_FOLDER = settings(max_examples=60, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])


@SAME_FOLDER
@given(arrays(2))
def test_haplotypes_are_as_from_ms(tmp_path, states):
    text = io.BytesIO()
    write_ms_head(text, "ms", states.shape[1], 1, "", 1)
    write_ms_replicate(text, (places(len(states)) - 0.5) / 1000, [states.T], 4)
    (tmp_path / "x.ms").write_bytes(text.getvalue())
    (expected,) = read_alignments(tmp_path / "x.ms", ReadOptions(length=1000))
    found = Alignment.from_haplotypes(expected.positions, signed(states))
    if not len(states):  # ms then leaves out the rows
        assert (found.sites, found.haplotypes, found.alphabet) == (0, states.shape[1], expected.alphabet)
        return
    assert_same(found, expected)
    assert_same(Alignment.from_haplotypes(expected.positions, states, missing=MISSING), expected)


@SAME_FOLDER
@given(arrays(3), st.booleans())
def test_haploid_calls_are_as_from_a_vcf(tmp_path, states, filled):
    if not len(states):
        return
    names = names_of(states)
    expected = read_vcf(tmp_path, states, names, None)
    given = {"alleles": names, "samples": expected.samples}
    assert_same(Alignment.from_haplotypes(places(len(states)), signed(states), **given), expected)
    calls = signed(states)[:, :, None]
    calls = np.concatenate([calls, np.full_like(calls, -2)], axis=2) if filled else calls
    assert_same(Alignment.from_genotypes(places(len(states)), calls, **given), expected)


@SAME_FOLDER
@given(arrays(3, even=True), st.sampled_from([0, 0.1, 1]), st.booleans())
def test_diploid_calls_are_as_from_a_vcf(tmp_path, states, share, padded):
    if not len(states):
        return
    names = names_of(states)
    calls = signed(states).reshape(len(states), -1, 2)
    unphased = np.random.default_rng(1).random(calls.shape[:2]) < share
    expected = read_vcf(tmp_path, states, names, unphased)
    given = {"alleles": names, "samples": expected.samples}
    if padded:  # as arrays of a mixed ploidy are
        calls = np.concatenate([calls, np.full_like(calls, -2)], axis=2)
    slashed = unphased | (calls[:, :, 0] < 0)  # the writer's way
    assert_same(Alignment.from_genotypes(places(len(states)), calls, phased=~slashed, **given), expected)
    if share == 1:
        assert_same(Alignment.from_genotypes(places(len(states)), calls, phased=False, **given), expected)
        assert_same(Alignment.from_haplotypes(places(len(states)), signed(states), phased=False, **given), expected)


@SAME_FOLDER
@given(arrays(3))
def test_alleles_without_names(tmp_path, states):
    """0 and 1, or A, C and G in this order."""
    if not len(states):
        return
    found = Alignment.from_haplotypes(places(len(states)), signed(states))
    third = (states == 2).any()
    bases = np.tile(np.array(list("ACG" if third else "01."), "U1"), (len(states), 1))
    expected = read_vcf(tmp_path, states, bases, None)
    expected.samples = ()
    assert_same(found, expected)


def test_haploid_and_diploid_calls_together():
    calls = np.array([[[0, 1], [1, -2]], [[1, 1], [0, -2]]])
    found = Alignment.from_genotypes([1, 2], calls, phased=False)
    assert (found.ploidy, found.haplotypes, found.unphased_calls) == (2, 4, 1)
    assert found.bits.tolist() == [[0b0110, 0b0011]]
    assert found.valid.tolist() == [[0b0111, 0b0111]]


@pytest.mark.parametrize("dtype", [bool, np.int8, np.uint8, np.int16, np.int32, np.int64, np.uint64])
@pytest.mark.parametrize("order", ["C", "F"])
def test_any_integers_in_any_order(dtype, order):
    states = np.random.default_rng(1).integers(0, 2, (50, 70))
    expected = Alignment.from_haplotypes(np.arange(50), states)
    assert_same(Alignment.from_haplotypes(list(range(50)), np.array(states, dtype, order=order)), expected)
    turned = states.astype(dtype)[:, ::-1].copy()[:, ::-1]
    assert_same(Alignment.from_haplotypes(np.arange(50, dtype=np.uint32), turned), expected)


def test_blocks_do_not_show(monkeypatch):
    rng = np.random.default_rng(1)
    calls, phased = rng.integers(-1, 3, (40, 20, 2)).astype(np.int8), rng.random((40, 20)) < 0.5
    expected = Alignment.from_genotypes(np.arange(40), calls, phased=phased)
    monkeypatch.setattr("oclgenomics.variation.arrays._BLOCK_BYTES", 3 * 40)
    assert_same(Alignment.from_genotypes(np.arange(40), calls, phased=phased), expected)


def by_planes(calls: NDArray[np.int64], names: NDArray[np.str_], phased: NDArray[np.bool_]) -> Alignment:
    """All sites at once, state by state, from calls that are -1 where missing and -2 where there is no second one."""
    sites, samples, ploidy = calls.shape
    own, _ = allele_codes(names)
    codes = np.where(calls < 0, planes.MISSING, calls).astype(np.uint8)
    if ploidy == 2:
        codes[:, :, 1][(calls[:, :, 1] == -2) & (calls[:, :, 0] >= 0)] = planes.HAPLOID
    packed = planes.Planes(own, is_plain(own), samples * ploidy, ploidy)
    packed.add_states(np.arange(sites), codes.reshape(sites, -1))
    unphased = ~phased & (calls >= 0).all(axis=2) & (calls[:, :, 0] != calls[:, :, -1])
    parts = SiteParts(samples)
    parts.add(packed.finish(int(unphased.sum())))
    return Alignment(name="1", positions=places(sites), unphased=bool(unphased.any()), **vars(parts.join()))


@st.composite
def call_arrays(draw: st.DrawFn) -> NDArray[np.int64]:
    """Calls of which some sites have a third state, or states that are missing, or haploid calls."""
    sites, samples = draw(st.integers(1, 9)), draw(st.sampled_from([1, 3, 4, 5, 15, 16, 17, 33]))
    rng = np.random.default_rng(draw(st.integers(0, 1 << 30)))
    shape = (sites, samples, draw(st.sampled_from([1, 2])))
    largest = np.where(rng.random(sites) < draw(st.sampled_from([0, 0, 0.3])), 3, 1)
    calls = (rng.random(shape) * (1 + largest[:, None, None])).astype(np.int64)
    some = (rng.random(sites) < 0.5)[:, None, None]
    calls[some & (rng.random(shape) < draw(st.sampled_from([0, 0.2, 1])))] = -1
    if shape[2] == 2:
        calls[:, :, 1][some[:, :, 0] & (rng.random(shape[:2]) < draw(st.sampled_from([0, 0, 0.3])))] = -2
        calls[0, 0, 1] = 0  # else all calls could be haploid
    return calls


def laid_out(calls: NDArray[Any], layout: str) -> NDArray[Any]:
    """The same calls, elsewhere in memory."""
    if layout == "by sites":
        return np.ascontiguousarray(calls.transpose(1, 2, 0)).transpose(2, 0, 1)
    if layout == "backwards":
        return calls[:, ::-1].copy()[:, ::-1]
    if layout == "every second":
        wide = np.zeros([2 * length for length in calls.shape], calls.dtype, order="F")
        wide[::2, ::2, ::2] = calls
        return wide[::2, ::2, ::2]
    return np.asfortranarray(calls) if layout == "F" else calls


@settings(max_examples=120, deadline=None)
@given(
    call_arrays(),
    st.sampled_from(["i1", "i2", ">i4", "i8", "u1", ">u2", "u8"]),
    st.sampled_from([-1, 9, 127, 254, 300, -7]),
    st.sampled_from(["C", "F", "by sites", "backwards", "every second"]),
    st.sampled_from([0, 0.5, 1]),
    st.sampled_from([1, 100, 1 << 20]),
)
def test_any_calls_are_packed_as_state_by_state(calls, kind, missing, layout, share, block):
    phased = np.random.default_rng(2).random(calls.shape[:2]) >= share
    limits = np.iinfo(kind)
    if not limits.min <= missing <= limits.max:
        missing = limits.max
    if limits.min == 0:  # nothing but the missing state can be said then
        calls = np.where(calls < 0, -1, calls)
    array = laid_out(np.where(calls == -1, missing, calls).astype(kind), layout)
    third = (calls > 1).any(axis=(1, 2))[:, None]
    names = np.where(third, list("ACGT"), ["A", "C", "", ""] if third.any() else ["0", "1", "", ""])
    expected = by_planes(calls, names, phased)
    with patch.object(arrays_module, "_BLOCK_BYTES", block), patch.object(arrays_module, "_BLOCK_SITES", 2):
        given = {"missing": missing, "phased": phased}
        assert_same(Alignment.from_genotypes(places(len(calls)), array, **given), expected)
        assert_same(Alignment.from_genotypes(places(len(calls)), array, alleles=names, **given), expected)
        if share == 1 and calls.shape[2] == 2:
            states = array.reshape(len(calls), -1)
            found = Alignment.from_haplotypes(places(len(calls)), states, missing=missing, phased=False)
            assert_same(found, expected)


def test_how_calls_lie():
    calls = np.zeros((6, 5, 2), np.int8)
    assert not lies_by_sites(calls)
    assert lies_by_sites(np.asfortranarray(calls))
    assert lies_by_sites(np.zeros((5, 6), np.int8).T[:, :, None])
    assert not lies_by_sites(np.asfortranarray(calls)[:1])


def test_no_sites():
    for found in (
        Alignment.from_haplotypes(np.zeros(0, int), np.zeros((0, 6), np.int8), phased=False),
        Alignment.from_genotypes(np.zeros(0, int), np.zeros((0, 3, 2), np.int8)),
    ):
        assert (found.sites, found.haplotypes, found.ploidy, found.alphabet) == (0, 6, 2, "binary")


def test_threads_do_not_show(monkeypatch):
    rng = np.random.default_rng(1)
    states = rng.integers(-1, 3, (90, 40)).astype(np.int8)
    expected = Alignment.from_haplotypes(np.arange(90), states)
    monkeypatch.setattr(arrays_module, "_BLOCK_BYTES", 15)  # 120 for a thread
    monkeypatch.setattr(arrays_module, "_WORTH_THREADS", 0)
    assert_same(Alignment.from_haplotypes(np.arange(90), states), expected)
    states[[50, 80], 7] = 5
    with pytest.raises(UsageError, match="haplotype 7 has 5 at site 50"):
        Alignment.from_haplotypes(np.arange(90), states)


def test_packing_takes_little_memory_beyond_the_planes():
    states = np.random.default_rng(1).integers(0, 2, (4000, 2000)).astype(np.int8)
    states[::3, 5] = -1
    Alignment.from_haplotypes([1], states[:1])  # workers take some memory the first time
    for array, more in ((states, 4 << 20), (np.asfortranarray(states), 8 << 20)):
        tracemalloc.start()
        packed = Alignment.from_haplotypes(np.arange(4000), array).packed_bytes
        peak = tracemalloc.get_traced_memory()[1]
        tracemalloc.stop()
        assert peak < 2 * packed + more


@pytest.mark.parametrize(
    ("positions", "genotypes", "options", "message"),
    [
        ([1, 2], np.zeros((3, 2, 2), int), {}, "positions must be as many as the sites, 3, not 2"),
        ([1.5], np.zeros((1, 2, 2), int), {}, "positions must be a one-dimensional array of whole numbers"),
        ([[1]], np.zeros((1, 2, 2), int), {}, "positions must be a one-dimensional"),
        ([2, 9, 5], np.zeros((3, 2, 2), int), {}, "site 2 .counted from 0. lies at 5, the one before at 9"),
        ([1], np.zeros((1, 2), int), {}, "genotypes must have the shape .sites, samples, ploidy., not .1, 2."),
        ([1], np.zeros((1, 2, 0), int), {}, "genotypes must have one allele or more"),
        ([1], np.zeros((1, 2, 2)), {}, "genotypes must be an array of whole numbers, not float64"),
        ([1, 2], [[[0, 1, -2], [0, 0, -2]], [[0, 0, -2], [0, 1, 1]]], {}, "diploid: the call of sample 1 at site 1"),
        ([1, 2], [[[0, 1]], [[0, 4]]], {}, "sample 0 has 4 at site 1"),
        ([1, 2], [[[0, 1]], [[300, 0]]], {}, "sample 0 has 300 at site 1"),
        ([1, 2], [[[0, 2]], [[0, 2]]], {"alleles": [["A", "C", "G"], ["A", "C", ""]]}, "sample 0 has 2 at site 1"),
        ([1], [[[0, 1]]], {"alleles": [["A", "CT"]]}, "alleles must be single bases.*site 0 .* are A, CT"),
        ([1], [[[0, 1]]], {"alleles": ["A", "C"]}, "alleles must be an array of names of shape .1, alleles."),
        ([1], [[[0, 1]]], {"phased": [True, False]}, "phased must be True, False, or an array of bool of shape .1, 1."),
        ([1], [[[0, 1]]], {"samples": ["a", "b"]}, "samples must be 1 names or none, not 2"),
    ],
)
def test_what_is_refused(positions, genotypes, options, message):
    with pytest.raises(UsageError, match=message) as caught:
        Alignment.from_genotypes(positions, genotypes, **options)
    assert "\n" not in str(caught.value)


def test_what_is_refused_of_haplotypes():
    with pytest.raises(UsageError, match="states must have two haplotypes for each sample where phased is False"):
        Alignment.from_haplotypes([1], [[0, 1, 1]], phased=False)
    with pytest.raises(UsageError, match=r"states must be numbers .*: haplotype 2 has 5 at site 0"):
        Alignment.from_haplotypes([1], [[0, 1, 5]])
    for kind, number in ((np.uint8, 200), (np.int16, 256), (">i4", 1 << 16), (np.uint64, 1 << 63)):
        with pytest.raises(UsageError, match=f"haplotype 1 has {number} at site 0"):
            Alignment.from_haplotypes([1], np.array([[0, number, 1]], kind))
    with pytest.raises(UsageError, match=r"states must have the shape .sites, haplotypes., not .3,."):
        Alignment.from_haplotypes([1], [0, 1, 1])


def test_an_alignment_is_shown_in_one_line():
    states = np.array([[0, 1, 1], [1, 0, 0]])
    shown = repr(Alignment.from_haplotypes(np.array([5, 900]), states, name="chr20"))
    assert shown == "<Alignment 'chr20': 3 haplotypes, 2 sites, 5 to 900 bp>"
    assert repr(Alignment.from_haplotypes(np.array([], int), states[:0])) == "<Alignment '1': 3 haplotypes, 0 sites>"


class GenotypeArrayLike:
    """What scikit-allel's `GenotypeArray` has: values, and perhaps a mask and phases of calls."""

    def __init__(self, values: NDArray[np.int8], mask: object = None, is_phased: object = None) -> None:
        self.values, self.mask, self.is_phased = values, mask, is_phased

    def __array__(self, dtype: object = None, copy: object = None) -> NDArray[np.int8]:
        return self.values


@pytest.mark.parametrize("kind", [bool, np.int8, np.uint8, np.int64])
def test_what_is_masked_is_missing(kind):
    rng = np.random.default_rng(1)
    states, hidden = rng.integers(0, 2, (30, 40)), rng.random((30, 40)) < 0.2
    masked = np.ma.array(states.astype(kind), mask=hidden)
    at = np.arange(30)
    expected = Alignment.from_haplotypes(at, np.where(hidden, -1, states))
    assert_same(Alignment.from_haplotypes(at, masked), expected)
    assert_same(Alignment.from_haplotypes(at, masked, missing=9), expected)
    assert_same(Alignment.from_haplotypes(at, np.ma.array(states)), Alignment.from_haplotypes(at, states))
    calls = masked.reshape(30, 20, 2)
    assert_same(
        Alignment.from_genotypes(at, calls),
        Alignment.from_genotypes(at, np.where(hidden, -1, states).reshape(30, 20, 2)),
    )
    with pytest.raises(UsageError, match="some are masked; leave these sites out"):
        Alignment.from_haplotypes(np.ma.array(at, mask=at == 3), states)


def test_mask_and_phases_of_scikit_allel_are_used():
    rng = np.random.default_rng(2)
    calls, at = rng.integers(0, 2, (30, 20, 2)).astype(np.int8), np.arange(30)
    hidden, phased = rng.random((30, 20)) < 0.2, rng.random((30, 20)) < 0.5
    expected = Alignment.from_genotypes(at, np.where(hidden[:, :, None], -1, calls), phased=phased)
    assert expected.unphased
    found = Alignment.from_genotypes(at, GenotypeArrayLike(calls, hidden, phased))
    assert_same(found, expected)
    assert not Alignment.from_genotypes(at, GenotypeArrayLike(calls, hidden, phased), phased=True).unphased
    assert_same(Alignment.from_genotypes(at, GenotypeArrayLike(calls)), Alignment.from_genotypes(at, calls))
    with pytest.raises(UsageError, match="mask of shape"):
        Alignment.from_genotypes(at, GenotypeArrayLike(calls, hidden[:5]))


def test_haploid_calls_among_diploid_ones_are_known_as_such():
    """Of five samples the last two are haploid; their missing calls are not known to be."""
    calls = np.array([[[0, 1], [1, 1], [0, -1], [1, -2], [0, -2]], [[1, 0], [0, 0], [1, 1], [1, -2], [-1, -2]]])
    found = Alignment.from_genotypes([1, 2], calls, phased=False)
    assert found.haploid.tolist() == [[0b10_10_00_00_00, 0b00_10_00_00_00]]
    assert (found.haplotypes, found.copies) == (10, 8)
    assert Alignment.from_genotypes([1, 2], calls[:, :3], phased=False).haploid is None


@pytest.mark.parametrize("source", [object(), np.zeros((3, 4)), [3]])
def test_what_is_no_alignment_is_refused_in_one_line(source: Any) -> None:
    with pytest.raises(UsageError, match=r"`Alignment.from_haplotypes`"):
        next(open_alignments(source))
