"""Genotype columns of a block of VCF records, turned into packed planes.

Where FORMAT is GT and every call takes three characters, a call and its tab are one 32-bit word (`vcf_quads`). For
anything else the tabs are searched, and the first four bytes of every field are classified.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np
from numpy.typing import NDArray

from oclgenomics.variation.alleles import NO_ALLELE, is_plain
from oclgenomics.variation.planes import HAPLOID, MISSING, Genotypes, Planes
from oclgenomics.variation.read_options import Phase, unphased_calls
from oclgenomics.variation.readers.input_buffer import bytes_at
from oclgenomics.variation.readers.line_blocks import LineBlock
from oclgenomics.variation.readers.vcf.calls import Calls, PackedCalls
from oclgenomics.variation.readers.vcf.quads import TEMPLATE, read_quads, read_triples


def _is_allele(code: NDArray[np.uint8]) -> NDArray[np.bool_]:
    """A digit or '.', less '0'."""
    found: NDArray[np.bool_] = (code <= 9) | (code == MISSING)
    return found


def _is_end(byte: NDArray[np.uint8]) -> NDArray[np.bool_]:
    """What may stand behind a call."""
    found: NDArray[np.bool_] = (byte == ord("\t")) | (byte == ord(":")) | (byte == ord("\n")) | (byte == ord("\r"))
    return found


class GenotypeReader:
    """Reads the calls of kept samples.

    Parameters
    ----------
    names : sequence of str
        All samples of the file.
    keep : ndarray of int64, or None
        Columns to keep, None for all.
    fields_at_once : int
        Fields classified together where their places have to be searched; bounds the memory that takes.
    phase : str
        One of `phase.PHASES`.

    Attributes
    ----------
    samples : tuple of str
        Names of the kept samples.
    """

    def __init__(
        self, names: Sequence[str], keep: NDArray[np.int64] | None, fields_at_once: int, phase: Phase = "auto"
    ) -> None:
        self._names, self._keep, self._phase = names, keep, phase
        self._columns = len(names)
        self._sites_at_once = max(1, fields_at_once // len(names))
        self.samples = tuple(names) if keep is None else tuple(names[i] for i in keep)

    def read(
        self, block: LineBlock, records: NDArray[np.int64], begins: NDArray[np.int64], alleles: NDArray[np.uint8]
    ) -> Genotypes:
        """Read the calls of some records.

        Parameters
        ----------
        block : LineBlock
            The lines.
        records : ndarray of int64, shape (sites,)
            Records to read.
        begins : ndarray of int64, shape (sites,)
            Offset of the first sample column of each.
        alleles : ndarray of uint8, shape (sites, 6)
            Letter codes by allele index.

        Raises
        ------
        InputError
            A wrong number of columns, a call that is none, more than two alleles in a call, an allele that the record
            does not have, a call that is not phased where phase is 'strict'.
        """
        packed, calls = self._calls(block, records, begins, alleles)
        unphased = sum(part.unphased for part in packed) + sum(part.unphased_count for part in calls)
        if unphased and self._phase == "strict":
            self._refuse_unphased(block, records, begins)
        ploidy = 2 if packed else max(part.ploidy for part in calls)
        planes = Planes(alleles, is_plain(alleles), len(self.samples) * ploidy, ploidy)
        for pack in packed:
            planes.add_packed(pack.sites, pack.bits, pack.valid)
        for part in calls:
            if self._phase == "missing":
                part.hide_unphased()
            planes.add_states(part.sites, part.states(ploidy))
        return planes.finish(unphased)

    def _calls(
        self, block: LineBlock, records: NDArray[np.int64], begins: NDArray[np.int64], alleles: NDArray[np.uint8]
    ) -> tuple[list[PackedCalls], list[Calls]]:
        """The calls of some records, checked, each kind of record by the fastest way that reads it."""
        plain = is_plain(alleles)
        sizes = block.ends[records] - begins
        diploid, haploid = sizes == 4 * self._columns - 1, sizes == 2 * self._columns - 1
        packed: list[PackedCalls] = []
        calls: list[Calls] = []
        left = [np.flatnonzero(~(diploid | haploid))]
        for sites in self._slices(np.flatnonzero(haploid)):
            singles, others = self._singles(block, begins[sites], sites)
            calls.append(singles)
            left.append(sites[others])
        for sites in self._slices(np.flatnonzero(diploid)):
            quads = self._quads(block, begins[sites])
            some, rows = read_quads(quads, sites, plain[sites], len(self.samples), self._phase)
            packed += some
            if len(rows):
                triples, others = read_triples(quads[rows, : len(self.samples)], sites[rows], self._phase)
                calls.append(triples)
                left.append(sites[rows[others]])
        for sites in self._slices(np.sort(np.concatenate(left))):
            calls.append(self._fields(block, records[sites], begins[sites], sites))
        calls = [part for part in calls if len(part.sites)]
        for part in calls:
            self._check_alleles(block, records, alleles, part)
        return packed, calls

    def _slices(self, sites: NDArray[np.int64]) -> Iterator[NDArray[np.int64]]:
        """Sites in slices that are worked on together."""
        for start in range(0, len(sites), self._sites_at_once):
            yield sites[start : start + self._sites_at_once]

    def _quads(self, block: LineBlock, begins: NDArray[np.int64]) -> NDArray[np.uint32]:
        """Calls as 32-bit words less `TEMPLATE`, (sites, samples padded to 16); padding is 0."""
        samples, width = len(self.samples), 16 * -(-len(self.samples) // 16)
        if self._keep is None:  # what is padding lies behind the line, where there is as much of it
            padded = bytes_at(block.data, begins, 4 * width).view("<u4")
            padded ^= TEMPLATE
            padded[:, samples:] = 0
        else:
            padded = np.zeros((len(begins), width), np.uint32)
            words = bytes_at(block.data, begins, 4 * self._columns).view("<u4")
            np.bitwise_xor(words[:, self._keep], TEMPLATE, out=padded[:, :samples])
        if self._keep is None or self._keep[-1] == self._columns - 1:
            padded[:, samples - 1] &= np.uint32(0x00FFFFFF)  # the last column has the end of the line behind it
        return padded

    def _singles(
        self, block: LineBlock, begins: NDArray[np.int64], sites: NDArray[np.int64]
    ) -> tuple[Calls, NDArray[np.bool_]]:
        """Calls of the records in which every call is one character, and a mask of the other records."""
        pairs = bytes_at(block.data, begins, 2 * self._columns).reshape(len(begins), self._columns, 2)
        pairs[:, -1, 1] = ord("\t")  # what follows the last column is the end of the line
        good = (pairs[:, :, 1] == ord("\t")).all(axis=1)
        pairs = pairs[good] if self._keep is None else pairs[good][:, self._keep]
        code = pairs[:, :, 0] - np.uint8(ord("0"))
        legal = _is_allele(code).all(axis=1)
        good[good] = legal
        alleles = np.full((int(legal.sum()), len(self.samples), 2), MISSING, np.uint8)
        alleles[:, :, 0] = code[legal]
        alleles[:, :, 1][alleles[:, :, 0] != MISSING] = HAPLOID
        return Calls(sites[good], alleles.reshape(len(alleles), 2 * len(self.samples)), 1), ~good

    def _fields(
        self, block: LineBlock, records: NDArray[np.int64], begins: NDArray[np.int64], sites: NDArray[np.int64]
    ) -> Calls:
        """Calls of records with any FORMAT that begins with GT."""
        starts = self._field_starts(block, records, begins)
        first, separator, second, behind = (block.data[i:].take(starts) for i in range(4))
        first -= np.uint8(ord("0"))
        second -= np.uint8(ord("0"))
        parted = (separator == ord("|")) | (separator == ord("/"))
        legal = parted & _is_allele(second) & _is_end(behind)
        ploidy = 2
        if not legal.all():
            legal |= _is_end(separator)
            second[~parted] = np.where(first[~parted] == MISSING, MISSING, HAPLOID)
            ploidy = 2 if parted.any() else 1
        legal &= _is_allele(first)
        if not legal.all():
            self._refuse_call(block, records, starts, np.argwhere(~legal)[0])
        unphased = unphased_calls(separator == ord("/"), first, second, MISSING, self._phase)
        alleles = np.stack([first, second], axis=2).reshape(len(sites), 2 * len(self.samples))
        return Calls(sites, alleles, ploidy, unphased)

    def _field_starts(
        self, block: LineBlock, records: NDArray[np.int64], begins: NDArray[np.int64]
    ) -> NDArray[np.int64]:
        """Offset of every kept field, int64 (sites, samples)."""
        origin = begins[0]
        tabs = np.flatnonzero(block.data[origin : block.ends[records[-1]]] == ord("\t")) + origin
        first = np.searchsorted(tabs, begins)
        found = np.searchsorted(tabs, block.ends[records]) - first + 1
        wrong = np.flatnonzero(found != self._columns)
        if len(wrong):
            i = int(wrong[0])
            raise block.error(
                int(records[i]), f"{9 + int(found[i])} columns, the header has {9 + self._columns}", int(begins[i])
            )
        starts = np.empty((len(records), self._columns), np.int64)
        starts[:, 0] = begins
        if len(tabs) == len(records) * (self._columns - 1) + 9 * (len(records) - 1):  # no other record in between
            starts[:, 1:] = np.append(tabs, np.zeros(9, np.int64)).reshape(len(records), -1)[:, : self._columns - 1]
        else:
            starts[:, 1:] = tabs[first[:, None] + np.arange(self._columns - 1)]
        starts[:, 1:] += 1
        return starts if self._keep is None else starts[:, self._keep]

    def _name(self, column: int) -> str:
        """Name of a kept column."""
        return self._names[column if self._keep is None else int(self._keep[column])]

    def _refuse_call(
        self, block: LineBlock, records: NDArray[np.int64], starts: NDArray[np.int64], where: NDArray[np.int64]
    ) -> None:
        row, column = int(where[0]), int(where[1])
        at = int(starts[row, column])
        end = at + int(np.argmax(_is_end(block.data[at:])))
        text = block.text(at, end)
        trouble = "is not a genotype"
        if text.replace("/", "|").count("|") > 1:
            trouble = "has more than two alleles; only haploid and diploid calls are read"
        raise block.error(int(records[row]), f"call {text!r} of sample {self._name(column)} {trouble}", at)

    def _refuse_unphased(self, block: LineBlock, records: NDArray[np.int64], begins: NDArray[np.int64]) -> None:
        """Name the first call that is not phased; there is one."""
        for sites in self._slices(np.arange(len(records))):
            calls = self._fields(block, records[sites], begins[sites], sites)
            if calls.unphased is not None:
                row, sample = np.argwhere(calls.unphased)[0].tolist()
                raise block.error(
                    int(records[sites[row]]),
                    f"a call of sample {self._name(sample)} is not phased ('/'); phase the data, or choose "
                    "`phase=missing`, auto or ignore",
                )

    def _check_alleles(
        self, block: LineBlock, records: NDArray[np.int64], alleles: NDArray[np.uint8], calls: Calls
    ) -> None:
        """Refuse allele indices that a record does not have."""
        count = (alleles[calls.sites] != NO_ALLELE).sum(axis=1).astype(np.uint8)[:, None]
        wrong = (calls.alleles >= count) & (calls.alleles < HAPLOID)
        if wrong.any():
            row, haplotype = np.argwhere(wrong)[0].tolist()
            raise block.error(
                int(records[calls.sites[row]]),
                f"allele {calls.alleles[row, haplotype]} of sample {self._name(haplotype // 2)} is beyond REF and ALT",
            )
