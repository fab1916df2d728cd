"""Packing of some sites of an array of states: by bit operations where a site has two, else by `Planes`."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from oclgenomics.errors import ParameterError
from oclgenomics.variation.alleles import NO_ALLELE, ONE, ZERO, is_plain
from oclgenomics.variation.packing import FIRST, both_observed, pack_states, spread_haplotypes
from oclgenomics.variation.planes import HAPLOID, MISSING, Genotypes, Planes
from oclgenomics.variation.read_options import unphased_calls

FILL = -2  # sgkit's second allele of a haploid call
_LARGEST = 127  # what any greater state is taken for
_NUMBERED = np.array([ZERO, ONE, *[NO_ALLELE] * 4], np.uint8)  # the alleles of data in which no site has a third
_TWO_BASES = np.array([0, 1, *[NO_ALLELE] * 4], np.uint8)
_FOUR_BASES = np.array([0, 1, 2, 3, *[NO_ALLELE] * 2], np.uint8)


@dataclass(frozen=True)
class CallRules:
    """What the calls of an array mean.

    Attributes
    ----------
    name : str
        What messages call the array.
    missing : int
        The missing state, apart from negative ones.
    ploidy : int
        1 or 2.
    """

    name: str
    missing: int
    ploidy: int

    @property
    def fills(self) -> bool:
        """Whether the second state of a call may say that it is haploid."""
        return self.ploidy == 2 and self.missing != FILL


def lies_by_sites(calls: NDArray[Any]) -> bool:
    """Whether neighbours in memory are of neighbouring sites, as in transposed arrays."""
    strides = [abs(stride) for stride, length in zip(calls.strides[1:], calls.shape[1:], strict=True) if length > 1]
    return len(calls) > 1 and abs(calls.strides[0]) < min(strides, default=0)


def pack_block(
    calls: NDArray[Any],
    start: int,
    rules: CallRules,
    named: NDArray[np.uint8] | None,
    phased: bool | NDArray[np.bool_],
) -> tuple[Genotypes, bool]:
    """Pack the calls of some sites.

    Parameters
    ----------
    calls : ndarray of integers or bool, shape (sites, samples, ploidy)
    start : int
        Number of the first site, for messages.
    rules : CallRules
    named : ndarray of uint8, shape (sites, 6), or None
        Codes of the alleles; None if they have no names.
    phased : bool, or ndarray of bool of shape (sites, samples)
        Whether the order of a call's alleles is their phase.

    Returns
    -------
    genotypes : Genotypes
    many : bool
        There is a state above 1.
    """
    sites, samples, ploidy = calls.shape
    states = _as_bytes(calls, rules.missing)
    complete = int(states.view(np.uint8).max(initial=0)) <= 1  # absent ones are above 127 there
    many = not complete and int(states.max(initial=0)) > 1
    own = _default_alleles(states, many) if named is None else named
    plain = np.ones(sites, bool) if named is None and not many else is_plain(own)
    simple = plain & (states.max(axis=1, initial=0) <= 1) if many else plain
    if not complete and rules.fills and int(states.min(initial=0)) <= FILL:
        simple = simple & (states.min(axis=1, initial=0) > FILL)
    planes, unphased = Planes(own, plain, samples * ploidy, ploidy), 0
    whole = bool(simple.all())
    if whole or simple.any():
        at: Any = slice(None) if whole else np.flatnonzero(simple)
        bits = pack_states(states == 1 if many or not complete else states)[at]
        observed = complete or (many and int(states.min(initial=0)) >= 0)
        valid = None if observed else pack_states(states >= 0)[at]
        planes.add_packed(at, bits, valid)
        unphased = _unphased_pairs(bits, valid, phased if isinstance(phased, bool) else phased[at], ploidy, samples)
    if not whole:
        _refuse_unknown(calls, start, states, own, rules.name)
        at = np.flatnonzero(~simple)
        codes = _as_codes(np.ascontiguousarray(states[at]).reshape(len(at), samples, ploidy), rules.fills)
        planes.add_states(at, codes.reshape(len(at), samples * ploidy))
        unphased += _unphased(codes, phased if isinstance(phased, bool) else phased[at])
    return planes.finish(unphased), many


def _as_bytes(calls: NDArray[Any], missing: int) -> NDArray[np.int8]:
    """States (sites, haplotypes), contiguous along one axis: negative where absent, `_LARGEST` if greater.

    What only fills up a call stays `FILL`. It is a view of the calls where they are such states.
    """
    states = _of_haplotypes(calls)
    absent = states == missing if missing >= 0 else None
    if states.dtype.itemsize > 1 or states.dtype.kind == "u":
        if int(states.max(initial=0)) > _LARGEST:
            states = np.minimum(states, states.dtype.type(_LARGEST))
        if int(states.min(initial=0)) < FILL:
            states = np.maximum(states, states.dtype.type(FILL - 1))
    narrow = states.view(np.int8) if states.dtype.itemsize == 1 else states.astype(np.int8)
    return narrow if absent is None else narrow | np.negative(absent.view(np.int8))  # quicker than `where`: -1 | any


def _of_haplotypes(calls: NDArray[Any]) -> NDArray[Any]:
    """Calls (sites, samples, ploidy) as (sites, haplotypes), contiguous along the axis along which they lie."""
    sites, samples, ploidy = calls.shape
    if lies_by_sites(calls):
        rows = calls.transpose(1, 2, 0).reshape(samples * ploidy, sites)
        return (rows if rows.strides[1] == rows.itemsize else np.ascontiguousarray(rows)).T
    rows = calls.reshape(sites, samples * ploidy)
    return rows if rows.strides[1] == rows.itemsize else np.ascontiguousarray(rows)


def _default_alleles(states: NDArray[np.int8], many: bool) -> NDArray[np.uint8]:
    """Codes of alleles without names: 0 and 1, or A, C, G, T where the block has a third state."""
    if not many:
        return np.broadcast_to(_NUMBERED, (len(states), len(_NUMBERED)))
    third = states.max(axis=1, initial=0) > 1
    return np.where(third[:, None], _FOUR_BASES, _TWO_BASES)


def _as_codes(states: NDArray[np.int8], fills: bool) -> NDArray[np.uint8]:
    """States of calls (sites, samples, ploidy) as `Planes` takes them."""
    codes = np.where(states < 0, np.uint8(MISSING), states.view(np.uint8))
    if fills:
        codes[:, :, 1][(states[:, :, 1] == FILL) & (states[:, :, 0] >= 0)] = HAPLOID
    return codes


def _unphased_pairs(
    bits: NDArray[np.uint32],
    valid: NDArray[np.uint32] | None,
    phased: bool | NDArray[np.bool_],
    ploidy: int,
    samples: int,
) -> int:
    """How many diploid calls, packed (sites, words), are heterozygous and not phased."""
    if ploidy == 1 or np.all(phased):
        return 0
    differ = (bits ^ (bits >> np.uint32(1))) & FIRST
    if valid is not None:
        differ &= both_observed(valid)
    if not isinstance(phased, bool):
        differ &= spread_haplotypes(pack_states(~phased), samples)
    return int(np.bitwise_count(differ).sum())


def _unphased(codes: NDArray[np.uint8], phased: bool | NDArray[np.bool_]) -> int:
    """How many calls (sites, samples, ploidy) are not phased."""
    if codes.shape[2] == 1 or np.all(phased):
        return 0
    slashed = np.broadcast_to(~np.asarray(phased), codes.shape[:2])
    slashed = slashed & (codes[:, :, 1] != HAPLOID)
    found = unphased_calls(slashed, codes[:, :, 0], codes[:, :, 1], MISSING, "auto")
    return 0 if found is None else int(np.count_nonzero(found))


def _refuse_unknown(
    calls: NDArray[Any], start: int, states: NDArray[np.int8], own: NDArray[np.uint8], name: str
) -> None:
    """Name the first state that its site does not have, if there is one."""
    known = (own != NO_ALLELE).sum(axis=1)
    unknown = np.flatnonzero(states.max(axis=1, initial=-1) >= known)
    if not len(unknown):
        return
    site = int(unknown[0])
    haplotype = int(np.argmax(states[site] >= known[site]))
    sample, allele = divmod(haplotype, calls.shape[2])
    who = f"sample {sample}" if name == "genotypes" else f"haplotype {haplotype}"
    raise ParameterError(
        name,
        f"must be numbers of the site's alleles, 0 to 3 where these are not given: {who} has "
        f"{calls[site, sample, allele]} at site {start + site} (counted from 0)",
    )
