"""What the arrays of a VCF Zarr say of some records other than their genotypes, judged as the columns of a VCF are."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from oclgenomics.errors import InputError
from oclgenomics.variation.alleles import NO_ALLELE, allele_codes, is_fixed, is_other_kind
from oclgenomics.variation.read_options import Region
from oclgenomics.variation.readers.vcf_zarr.store import STRINGS, ZarrStore

_FILLS = {4: 0x7F800002, 8: 0x7FF0000000000002}  # NaN that pads a list of numbers, by its size in bytes
_INTEGER_FILL = -2


@dataclass
class ZarrRecords:
    """What some records say.

    Attributes
    ----------
    positions : ndarray of int64, shape (records,)
        POS, bp.
    contigs : list of (int, str)
        First record and name of each run of one CHROM.
    inside : ndarray of bool, shape (records,)
        Records in the region; all without one.
    keep : ndarray of bool, shape (records,)
        Records to read.
    alleles : ndarray of uint8, shape (records, 6)
        Code of each allele index, as in `alleles`.
    reasons : list of (reason, ndarray of bool)
        Every reason to leave a record out; a record is counted under the first that applies.
    """

    positions: NDArray[np.int64]
    contigs: list[tuple[int, str]]
    inside: NDArray[np.bool_]
    keep: NDArray[np.bool_]
    alleles: NDArray[np.uint8]
    reasons: list[tuple[str, NDArray[np.bool_]]]


class RecordReader:
    """Reads and judges records.

    Parameters
    ----------
    store : ZarrStore
        The input.
    region : Region, optional
        The only records to keep.

    Raises
    ------
    InputError
        An array is missing or has another shape than a VCF Zarr has.
    """

    def __init__(self, store: ZarrStore, region: Region | None = None) -> None:
        self._store, self._region = store, region
        self.count: int = store.need("variant_position", "iu", 1).shape[0]
        store.need("variant_allele", STRINGS, 2, self.count)
        store.need("variant_contig", "iu", 1, self.count)
        store.need("contig_id", STRINGS, 1)
        store.array("variant_AF", "fiu" + STRINGS, (1, 2), self.count)
        store.array("variant_VT", STRINGS, (1, 2), self.count)
        self._contigs = [str(name) for name in store.read("contig_id").tolist()]
        self._failing: list[int] = []
        filters = store.array("variant_filter", "b", (2,), self.count)
        if filters is not None:
            store.need("filter_id", STRINGS, 1, filters.shape[1])
            self._failing = [i for i, name in enumerate(store.read("filter_id").tolist()) if name != "PASS"]

    def read(self, start: int, stop: int) -> ZarrRecords:
        """Read the records from `start` to before `stop`."""
        rows = slice(start, stop)
        alleles, single = allele_codes(self._store.read("variant_allele", rows))
        reasons = [
            ("not a SNP", ~single | self._other_kind(rows)),
            ("no alternative allele", single & (alleles[:, 1] == NO_ALLELE)),
            ("filter", self._filtered(rows)),
            ("AF 0 or 1", self._fixed(rows)),
        ]
        positions = self._store.read("variant_position", rows).astype(np.int64)
        contigs = self._runs(rows)
        inside = self._inside(positions, contigs)
        keep = inside & ~np.logical_or.reduce([flags for _, flags in reasons])
        return ZarrRecords(positions, contigs, inside, keep, alleles, reasons)

    def _inside(self, positions: NDArray[np.int64], contigs: list[tuple[int, str]]) -> NDArray[np.bool_]:
        if self._region is None:
            return np.ones(len(positions), bool)
        starts = [first for first, _ in contigs]
        named = [name == self._region.chromosome for _, name in contigs]
        inside: NDArray[np.bool_] = np.repeat(named, np.diff([*starts, len(positions)]))
        return inside & self._region.holds(positions)

    def _runs(self, rows: slice) -> list[tuple[int, str]]:
        numbers = self._store.read("variant_contig", rows)
        wrong = np.flatnonzero((numbers < 0) | (numbers >= len(self._contigs)))
        if len(wrong):
            i = int(wrong[0])
            message = f"contig {numbers[i]} of {len(self._contigs)} in variant_contig"
            raise InputError(message, source=self._store.source, record=rows.start + i + 1)
        starts = np.concatenate([np.zeros(1, np.int64), np.flatnonzero(np.diff(numbers)) + 1])
        return [(i, self._contigs[numbers[i]]) for i in starts.tolist()]

    def _filtered(self, rows: slice) -> NDArray[np.bool_]:
        """A filter other than PASS applies; no filter at all is '.'."""
        if not self._failing:
            return np.zeros(rows.stop - rows.start, bool)
        return np.asarray(self._store.read("variant_filter", rows)[:, self._failing].any(axis=1))

    def _fixed(self, rows: slice) -> NDArray[np.bool_]:
        """INFO AF is exactly 0 or 1 for every allele listed."""
        if not self._store.has("variant_AF"):
            return np.zeros(rows.stop - rows.start, bool)
        values = self._store.read("variant_AF", rows).reshape(rows.stop - rows.start, -1)
        if values.dtype.kind not in "fiu":
            return np.array(
                [is_fixed(",".join(map(str, filter(None, texts))).encode()) for texts in values.tolist()], bool
            )
        fill = _fills(values)
        fixed = np.asarray((fill | (values == 0) | (values == 1)).all(axis=1))
        fixed &= ~fill.all(axis=1)
        return fixed

    def _other_kind(self, rows: slice) -> NDArray[np.bool_]:
        """INFO VT names anything but SNPs."""
        if not self._store.has("variant_VT"):
            return np.zeros(rows.stop - rows.start, bool)
        kinds = self._store.read("variant_VT", rows).reshape(rows.stop - rows.start, -1).tolist()
        distinct = {str(kind) for row in kinds for kind in row}
        others = {kind for kind in distinct if kind not in ("", ".") and is_other_kind(kind.encode())}
        return np.array([not others.isdisjoint(row) for row in kinds], bool)


def _fills(values: NDArray[Any]) -> NDArray[np.bool_]:
    """Where numbers only fill up a list; NaN with other bits is a missing one."""
    fill = _INTEGER_FILL
    if values.dtype.kind == "f":
        fill = _FILLS.get(values.itemsize, 0)
        values = np.ascontiguousarray(values).view(f"{values.dtype.byteorder}u{values.itemsize}")
    found: NDArray[np.bool_] = np.equal(values, fill)
    return found
