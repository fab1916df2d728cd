"""Arrays of states, as scikit-allel and sgkit hold them, packed as the readers pack what they read."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from oclgenomics.errors import ParameterError
from oclgenomics.io.workers import Workers
from oclgenomics.variation.alleles import LETTERS, allele_codes
from oclgenomics.variation.array_blocks import FILL, CallRules, lies_by_sites, pack_block
from oclgenomics.variation.planes import Genotypes
from oclgenomics.variation.site_parts import PackedSites, SiteParts

_BLOCK_BYTES = 1 << 20  # states packed together, which stay in the cache
_LONGER = 4  # times as much where the states of one haplotype lie together, as each of its rows is a loop
_APART = 8  # times as much for a thread, as small operations of threads wait for each other's lock
_BLOCK_SITES = 256  # at least where the states of one haplotype lie together
_WORTH_THREADS = 1 << 26


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
    return _packed("states", array.reshape(len(array), array.shape[1] // 2, 2), alleles, missing, False)


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
    if missing != FILL and _all_haploid(array):
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


def _blocks(calls: NDArray[Any], times: int = 1) -> Iterator[tuple[int, NDArray[Any]]]:
    """The first site and the calls of some sites at a time; one block where there are no sites."""
    columns = lies_by_sites(calls)
    size = _BLOCK_BYTES * max(times, _LONGER if columns else 1)
    step = max(_BLOCK_SITES if columns else 1, size // max(1, calls[:1].nbytes))
    for start in range(0, max(1, len(calls)), step):
        yield start, calls[start : start + step]


def _all_haploid(calls: NDArray[Any]) -> bool:
    """Whether every call has one allele, and a second that only fills it up."""
    if calls.shape[2] < 2 or not calls.size:
        return False
    return all(bool((block[:, :, 1] == FILL).all()) for _, block in _blocks(calls))


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
    rules, parts, many = CallRules(name, missing, ploidy), SiteParts(samples), False

    def pack(block: tuple[int, NDArray[Any]]) -> tuple[Genotypes, bool]:
        start, some = block
        rows = slice(start, start + len(some))
        own = None if named is None else named[rows]
        return pack_block(some, start, rules, own, phased if isinstance(phased, bool) else phased[rows])

    with Workers(None if calls.nbytes >= _WORTH_THREADS else 1) as workers:
        for part, more in workers.map(pack, _blocks(calls, _APART if workers.threads > 1 else 1)):
            parts.add(part)
            many = many or more
        joined = parts.join(workers)
    if named is not None:
        return joined
    if not many:
        return replace(joined, alphabet="binary")
    letters = joined.letters  # those of blocks without a third state are still numbers
    return replace(joined, letters=np.where(letters <= ord("1"), LETTERS[letters & 1], letters))


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
