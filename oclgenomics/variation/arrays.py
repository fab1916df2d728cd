"""Arrays of states, as scikit-allel and sgkit hold them, packed as the readers pack what they read."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from oclgenomics.errors import ParameterError
from oclgenomics.variation.alleles import NO_ALLELE, ONE, ZERO, allele_codes, is_plain
from oclgenomics.variation.planes import HAPLOID, MISSING, Planes
from oclgenomics.variation.read_options import unphased_calls
from oclgenomics.variation.site_parts import PackedSites, SiteParts

_FILL = -2  # sgkit's second allele of a haploid call
_BLOCK_BYTES = 1 << 22  # states packed together
_NUMBERED = np.array([ZERO, ONE, *[NO_ALLELE] * 4], np.uint8)  # the alleles of data in which no site has a third
_TWO_BASES = np.array([0, 1, *[NO_ALLELE] * 4], np.uint8)
_FOUR_BASES = np.array([0, 1, 2, 3, *[NO_ALLELE] * 2], np.uint8)


def positions_of(positions: ArrayLike) -> NDArray[np.int64]:
    """Positions as int64, a copy.

    Raises
    ------
    UsageError
        They are no one-dimensional array of whole numbers.
    """
    if np.ma.is_masked(positions):
        raise ParameterError("positions", "must be known for every site, and some are masked; leave these sites out")
    array = np.asarray(positions)
    if array.ndim != 1 or (array.dtype.kind not in "iu" and array.size):
        raise ParameterError(
            "positions",
            f"must be a one-dimensional array of whole numbers of bp, not {array.dtype} of shape {array.shape}",
        )
    return array.astype(np.int64)


def pack_haplotypes(states: ArrayLike, alleles: ArrayLike | None, missing: int, phased: bool) -> PackedSites:
    """Pack the states of haplotypes; see `Alignment.from_haplotypes`."""
    array = _without_masked(_checked("states", states, ("sites", "haplotypes")), states, missing)
    if phased:
        return _packed("states", array[:, :, None], alleles, missing, True)
    if array.shape[1] % 2:
        raise ParameterError(
            "states", f"must have two haplotypes for each sample where phased is False, not {array.shape[1]} in all"
        )
    return _packed("states", array.reshape(len(array), -1, 2), alleles, missing, False)


def pack_genotypes(
    genotypes: ArrayLike, alleles: ArrayLike | None, missing: int, phased: bool | ArrayLike | None
) -> PackedSites:
    """Pack the calls of samples; see `Alignment.from_genotypes`."""
    array = _without_masked(_checked("genotypes", genotypes, ("sites", "samples", "ploidy")), genotypes, missing)
    if phased is None:
        phased = getattr(genotypes, "is_phased", None)
    if phased is None:
        phased = True
    if np.ma.is_masked(phased):
        raise ParameterError("phased", "must be known for every call, and some are masked; fill them with False")
    if not array.shape[2]:
        raise ParameterError("genotypes", "must have one allele or more in a call, not none")
    _refuse_polyploid(array, missing)
    array = array[:, :, :2]
    if missing != _FILL and _all_haploid(array):
        array = array[:, :, :1]
    known = np.asarray(phased)
    if known.dtype != bool or known.shape not in ((), array.shape[:2]):
        raise ParameterError("phased", f"must be True, False, or an array of bool of shape {array.shape[:2]}")
    return _packed("genotypes", array, alleles, missing, known if known.ndim else bool(known))


def _checked(name: str, states: ArrayLike, dimensions: tuple[str, ...]) -> NDArray[Any]:
    """An array of whole numbers of so many dimensions."""
    array = np.asarray(states)
    if array.dtype.kind not in "iub":
        raise ParameterError(name, f"must be an array of whole numbers, not {array.dtype}")
    if array.ndim != len(dimensions):
        raise ParameterError(name, f"must have the shape ({', '.join(dimensions)}), not {array.shape}")
    return array


def _without_masked(array: NDArray[Any], given: Any, missing: int) -> NDArray[Any]:
    """The array with the missing state where the one given masks a state, or (scikit-allel) a call."""
    if isinstance(given, np.ma.MaskedArray):
        mask: Any = np.ma.getmaskarray(given)
    else:
        mask = getattr(given, "mask", None)
        if mask is None:
            return array
        mask = np.asarray(mask)
        if mask.dtype != bool or mask.shape not in (array.shape, array.shape[:2]):
            raise ParameterError("genotypes", f"have a mask of shape {mask.shape} that does not go with {array.shape}")
    if not mask.any():
        return array
    code = missing if missing >= 0 else -1
    kind = np.promote_types(array.dtype, np.min_scalar_type(code)) if array.dtype != bool else np.dtype(np.int16)
    hidden = array.astype(kind)
    hidden[mask] = code
    return hidden


def _blocks(calls: NDArray[Any]) -> Iterator[tuple[int, NDArray[Any]]]:
    """The first site and the calls of some sites at a time; one block where there are no sites."""
    step = max(1, _BLOCK_BYTES // max(1, calls[:1].nbytes))
    for start in range(0, max(1, len(calls)), step):
        yield start, calls[start : start + step]


def _all_haploid(calls: NDArray[Any]) -> bool:
    """Whether every call has one allele, and a second that only fills it up."""
    if calls.shape[2] < 2 or not calls.size:
        return False
    return all(bool((block[:, :, 1] == _FILL).all()) for _, block in _blocks(calls))


def _refuse_polyploid(calls: NDArray[Any], missing: int) -> None:
    """Refuse calls with a third allele; what only fills them up may be there."""
    if calls.shape[2] < 3:
        return
    for start, block in _blocks(calls):
        more = ~_absent(block[:, :, 2:], missing)
        if more.any():
            site, sample, _ = np.argwhere(more)[0].tolist()
            raise ParameterError(
                "genotypes",
                f"must be haploid or diploid: the call of sample {sample} at site {start + site} (counted "
                "from 0) has more than two alleles; give phased haplotypes as such (from_haplotypes)",
            )


def _absent(states: NDArray[Any], missing: int) -> NDArray[np.bool_]:
    """Where there is no state: the missing one, and whatever is negative."""
    absent: NDArray[np.bool_] = states == missing
    if states.dtype.kind == "i":
        absent |= states < 0
    return absent


def _packed(
    name: str, calls: NDArray[Any], alleles: ArrayLike | None, missing: int, phased: bool | NDArray[np.bool_]
) -> PackedSites:
    """Pack calls (sites, samples, 1 or 2), block by block."""
    sites, samples, ploidy = calls.shape
    named = None if alleles is None else _allele_codes(alleles, sites)
    largest = max(_largest(block, missing) for _, block in _blocks(calls))
    parts = SiteParts(samples)
    for start, block in _blocks(calls):
        rows = slice(start, start + len(block))
        absent = _absent(block, missing)
        codes = block.astype(np.uint8)
        codes[absent] = MISSING
        if missing != _FILL and ploidy == 2:
            codes[:, :, 1][(block[:, :, 1] == _FILL) & ~absent[:, :, 0]] = HAPLOID
        own = _default_alleles(codes, largest) if named is None else named[rows]
        wrong = ~absent & (block >= (own != NO_ALLELE).sum(axis=1, dtype=np.uint8)[:, None, None])
        if wrong.any():
            _refuse_state(name, start, block, wrong)
        unphased = _unphased(codes, phased if isinstance(phased, bool) else phased[rows])
        planes = Planes(own, is_plain(own), samples * ploidy, ploidy)
        planes.add_states(np.arange(len(codes)), codes.reshape(len(codes), samples * ploidy))
        parts.add(planes.finish(unphased))
    joined = parts.join()
    return replace(joined, alphabet="binary") if named is None and largest < 2 else joined


def _unphased(codes: NDArray[np.uint8], phased: bool | NDArray[np.bool_]) -> int:
    """How many calls are not phased."""
    if codes.shape[2] == 1 or phased is True:
        return 0
    slashed = np.broadcast_to(~np.asarray(phased), codes.shape[:2])
    slashed = slashed & (codes[:, :, 1] != HAPLOID)
    found = unphased_calls(slashed, codes[:, :, 0], codes[:, :, 1], MISSING, "auto")
    return 0 if found is None else int(np.count_nonzero(found))


def _allele_codes(alleles: ArrayLike, sites: int) -> NDArray[np.uint8]:
    """Letter codes by allele index, uint8 (sites, 6), of names (sites, alleles) that are '' or '.' past the last."""
    names = np.asarray(alleles)
    if names.ndim != 2 or len(names) != sites or not names.shape[1] or names.dtype.kind not in "TUOS":
        raise ParameterError(
            "alleles",
            f"must be an array of names of shape ({sites}, alleles), not {names.dtype} of shape {names.shape}",
        )
    codes, single = allele_codes(names)
    if not single.all():
        site = int(np.argmin(single))
        raise ParameterError(
            "alleles",
            f"must be single bases, or 0 and 1: those of site {site} (counted from 0) are "
            f"{', '.join(map(str, names[site].tolist()))[:40]}; leave out what is no SNP",
        )
    return codes


def _default_alleles(codes: NDArray[np.uint8], largest: int) -> NDArray[np.uint8]:
    """Letter codes of sites whose alleles have no names: 0 and 1, or A, C, G, T if a site of the data has a third."""
    if largest < 2:
        return np.broadcast_to(_NUMBERED, (len(codes), len(_NUMBERED)))
    third: NDArray[np.bool_] = np.any((codes > 1) & (codes < HAPLOID), axis=(1, 2))
    return np.where(third[:, None], _FOUR_BASES, _TWO_BASES)


def _largest(calls: NDArray[Any], missing: int) -> int:
    """The largest state, 0 if there is none."""
    if missing < 0:
        return int(calls.max(initial=0))
    return int(calls.max(where=~_absent(calls, missing), initial=0))


def _refuse_state(name: str, start: int, calls: NDArray[Any], wrong: NDArray[np.bool_]) -> None:
    """Name the first state that its site does not have."""
    site, sample, allele = np.argwhere(wrong)[0].tolist()
    who = f"sample {sample}" if name == "genotypes" else f"haplotype {sample * calls.shape[2] + allele}"
    raise ParameterError(
        name,
        f"must be numbers of the site's alleles, 0 to 3 where these are not given: {who} has "
        f"{calls[site, sample, allele]} at site {start + site} (counted from 0)",
    )
