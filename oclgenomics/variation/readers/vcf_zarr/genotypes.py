"""The genotypes of a VCF Zarr, packed."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from oclgenomics.errors import InputError
from oclgenomics.variation.alleles import NO_ALLELE, is_plain
from oclgenomics.variation.planes import HAPLOID, MISSING, Genotypes, Planes
from oclgenomics.variation.read_options import Phase, unphased_calls
from oclgenomics.variation.readers.vcf_zarr.store import ZarrStore

_MISSING, _FILL = -1, -2  # '.', and the second allele of a haploid call
_SLICE_BYTES = 1 << 20  # genotypes packed together, so that they stay in the cache


class CallReader:
    """Reads the calls of kept samples.

    Parameters
    ----------
    store : ZarrStore
        The input.
    records : int
        How many records it has.
    names : sequence of str
        All samples of the store.
    keep : ndarray of int64, or None
        Those to keep, None for all.
    phase : str
        One of `phase.PHASES`.

    Attributes
    ----------
    samples : tuple of str
        Names of the kept samples.
    record_bytes : int
        Size of the genotypes of one record.
    """

    def __init__(
        self, store: ZarrStore, records: int, names: Sequence[str], keep: NDArray[np.int64] | None, phase: Phase
    ) -> None:
        genotypes = store.array("call_genotype", "i", (3,), records)
        if genotypes is None:
            raise InputError("has no GT: the VCF Zarr lacks the array call_genotype", source=store.source)
        phased = store.array("call_genotype_phased", "b", (2,), records)
        shapes = {array.shape[:2] for array in (genotypes, phased) if array is not None}
        if shapes != {(records, len(names))} or not genotypes.size:
            trouble = f"call_genotype of shape {genotypes.shape} does not go with {len(names)} samples"
            raise InputError(trouble, source=store.source)
        self._genotypes = genotypes
        self.store, self.keep, self.phase = store, keep, phase
        self.samples = tuple(names) if keep is None else tuple(names[i] for i in keep)
        self.record_bytes = int(np.prod(genotypes.shape[1:])) * int(genotypes.dtype.itemsize)

    def records_in(self, block_bytes: int) -> int:
        """Records in whole chunks of about so many bytes, at least one chunk."""
        chunk: int = self._genotypes.chunks[0]
        return chunk * max(1, block_bytes // max(1, chunk * self.record_bytes))


class CallBlock:
    """The calls of a range of records.

    Parameters
    ----------
    reader : CallReader
        The input.
    start, stop : int
        The range.
    """

    def __init__(self, reader: CallReader, start: int, stop: int) -> None:
        self._reader, self._store = reader, reader.store
        self._start, self._rows = start, slice(start, stop)
        self._calls = np.zeros((0, len(reader.samples), 1), np.int8)
        self._phased: NDArray[np.bool_] | bool = True

    def load(self) -> None:
        """Read the arrays; does not have to be done where no record is wanted."""
        self._calls = self._columns("call_genotype")
        if self._reader.phase != "ignore" and self._calls.shape[2] > 1:
            self._phased = self._read_phased()

    def slices(self, records: NDArray[np.int64]) -> Iterator[NDArray[np.int64]]:
        """Records of the block, counted from its start, in slices that are read together."""
        step = max(1, _SLICE_BYTES // max(1, self._reader.record_bytes))
        for start in range(0, len(records), step):
            yield records[start : start + step]

    def given(self, records: NDArray[np.int64]) -> NDArray[np.bool_]:
        """Which records have GT; those without are written as missing in every call of every sample.

        Parameters
        ----------
        records : ndarray of int64, shape (records,)
            Records, counted from the start of the block, in order.

        Returns
        -------
        ndarray of bool, shape (records,)
        """
        calls = _rows(self._calls, records)
        if calls.min(initial=0) >= 0:
            return np.ones(len(records), bool)
        given: NDArray[np.bool_] = (calls != _MISSING).any(axis=(1, 2))
        if self._reader.keep is not None and not given.all():
            all_samples = self._store.read("call_genotype", self._rows)
            given[~given] = (all_samples[records[~given]] != _MISSING).any(axis=(1, 2))
        return given

    def read(self, records: NDArray[np.int64], alleles: NDArray[np.uint8]) -> Genotypes:
        """Read the calls of some records.

        Parameters
        ----------
        records : ndarray of int64, shape (sites,)
            Records, counted from the start of the block, in order.
        alleles : ndarray of uint8, shape (sites, 6)
            Letter codes by allele index.

        Raises
        ------
        InputError
            A call of more than two alleles, an allele that the record does not have, or a call that is not phased
            where phase is 'strict'.
        """
        calls = self._two(records, _rows(self._calls, records))
        low = int(calls.min())
        self._check(records, calls, alleles, low)
        unphased = self._unphased(records, calls)
        if unphased is not None and self._reader.phase == "missing":
            calls = np.where(unphased[:, :, None], calls.dtype.type(_MISSING), calls)
            low = min(low, _MISSING)
        haploid = calls.shape[2] == 1 or (low == _FILL and bool((calls[:, :, 1] == _FILL).all()))
        states = calls[:, :, 0] if haploid else calls.reshape(len(calls), -1)
        codes = states.astype(np.int8, copy=False).view(np.uint8)
        if low < 0:  # in eight bits what fills a call is `MISSING`, and '.' the number above
            codes = np.minimum(codes, np.uint8(MISSING))
            if low == _FILL and not haploid:
                single = (calls[:, :, 1] == _FILL) & (calls[:, :, 0] >= 0)
                codes.reshape(calls.shape)[:, :, 1][single] = HAPLOID
        planes = Planes(alleles, is_plain(alleles), states.shape[1], 1 if haploid else 2)
        planes.add_states(np.arange(len(records)), codes)
        return planes.finish(0 if unphased is None else int(np.count_nonzero(unphased)))

    def _columns(self, name: str) -> NDArray[Any]:
        """The kept samples of an array of calls; the chunks of those beyond the first and the last are not read."""
        keep = self._reader.keep
        if keep is None:
            return self._store.read(name, self._rows)
        first = int(keep[0])
        return self._store.read(name, self._rows, slice(first, int(keep[-1]) + 1))[:, keep - first]

    def _two(self, records: NDArray[np.int64], calls: NDArray[Any]) -> NDArray[Any]:
        """The calls without what the store has for a higher ploidy."""
        wrong = calls[:, :, 2:] != _FILL
        if wrong.any():
            row, sample, _ = np.argwhere(wrong)[0].tolist()
            name = self._reader.samples[sample]
            trouble = f"the call of sample {name} has more than two alleles; only haploid and diploid calls are read"
            raise self._error(records[row], trouble)
        return calls[:, :, :2]

    def _check(self, records: NDArray[np.int64], calls: NDArray[Any], alleles: NDArray[np.uint8], low: int) -> None:
        """Refuse allele indices that a record does not have."""
        count = (alleles != NO_ALLELE).sum(axis=1)
        if calls.max(initial=0) < count.min(initial=2) and low >= _FILL:
            return
        wrong = (calls >= count[:, None, None]) | (calls < _FILL)
        if wrong.any():
            row, sample, i = np.argwhere(wrong)[0].tolist()
            name = self._reader.samples[sample]
            raise self._error(records[row], f"allele {calls[row, sample, i]} of sample {name} is beyond REF and ALT")

    def _unphased(self, records: NDArray[np.int64], calls: NDArray[Any]) -> NDArray[np.bool_] | None:
        """Which calls are not phased, as `unphased_calls` has them; a haploid call has no phase."""
        if self._phased is True or calls.shape[2] < 2:
            return None
        first, second = calls[:, :, 0], calls[:, :, 1]
        slashed = second != _FILL
        if isinstance(self._phased, np.ndarray):
            slashed &= ~_rows(self._phased, records)
        found = unphased_calls(slashed, np.maximum(first, _MISSING), second, _MISSING, self._reader.phase)
        if found is not None and self._reader.phase == "strict":
            row, sample = np.argwhere(found)[0].tolist()
            raise self._error(
                records[row],
                f"a call of sample {self._reader.samples[sample]} is not phased; phase the data, or choose "
                "`phase=missing`, auto or ignore",
            )
        return found

    def _read_phased(self) -> NDArray[np.bool_] | bool:
        """Which calls are phased, or whether all are; none is where the array is left out."""
        if not self._store.has("call_genotype_phased"):
            return False
        phased = self._columns("call_genotype_phased").astype(bool, copy=False)
        return True if phased.all() else phased

    def _error(self, record: int, message: str) -> InputError:
        return InputError(message, source=self._store.source, record=self._start + int(record) + 1)


def _rows(array: NDArray[Any], records: NDArray[np.int64]) -> NDArray[Any]:
    """Some rows in order, without a copy where they are neighbours."""
    if len(records) and records[-1] - records[0] == len(records) - 1:
        return array[records[0] : records[-1] + 1]
    return array[records]
