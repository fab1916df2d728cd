"""Genotype columns of a batch of VCF records, turned into packed planes.

Three ways lead to the same planes, each for the records that the one before cannot take:

- quads: FORMAT is GT and every call takes three characters, so that a call and its tab are one 32-bit word; the words
  are compared with a template and their two allele bits are packed.
- triples: the same layout with '.' or alleles beyond 1.
- fields: anything else; the tabs are searched and the first four bytes of every field are classified.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from .alignment import WORD_BITS, words_for
from .batch import Batch
from .bytes_at import byte_table, windows
from .packing import full_words, pack_states
from .vcf_records import MISSING_LETTER, NO_ALLELE

__all__ = ["GenotypeReader", "Genotypes"]

_TEMPLATE = np.uint32(int.from_bytes(b"0|0\t", "little"))
_ALLELE_BITS = np.uint32(0x00010001)
_SEPARATOR_BYTE = np.uint32(0x0000FF00)
_SLASH = np.uint32((ord("|") ^ ord("/")) << 8)
_END_BYTE = np.uint32(0xFF000000)
_GATHER = np.uint64((1 << 48) | (1 << 33) | (1 << 18) | (1 << 3))  # moves bits 0, 16, 32, 48 to bits 48 to 51

_MISSING, _NOT_ALLELE = 15, 16
_ALLELE = byte_table(_NOT_ALLELE, {"0123456789": list(range(10)), ".": _MISSING})
_IS_ALLELE, _IS_SEPARATOR, _IS_END = 1, 2, 4
_KIND = byte_table(0, {"0123456789.": _IS_ALLELE, "|/": _IS_SEPARATOR, ":\t\r\n": _IS_END})


@dataclass
class Genotypes:
    """Packed planes of the kept records of a batch, one row of words per site.

    Attributes
    ----------
    bits : ndarray of uint32, shape (sites, words)
        As in `Alignment`, but site-major.
    valid : ndarray of uint32, shape (sites, words), or None
        None if all is observed.
    letters : ndarray of uint8, shape (sites, 2)
        Codes of state 0 and state 1.
    multi_site : ndarray of int64, shape (rows,)
        Sites with three or more states, one row per state.
    multi_letter : ndarray of uint8, shape (rows,)
        Code of the state of each row.
    multi_bits : ndarray of uint32, shape (rows, words)
        One-vs-rest bits.
    ploidy : int
        1 if every call of the batch is haploid.
    unphased : bool
        A heterozygous call has '/'.
    """

    bits: np.ndarray
    valid: np.ndarray | None
    letters: np.ndarray
    multi_site: np.ndarray
    multi_letter: np.ndarray
    multi_bits: np.ndarray
    ploidy: int
    unphased: bool


@dataclass
class _Calls:
    """Allele indices of some sites: uint8 (sites, samples, 2), `_MISSING` where there is none."""

    sites: np.ndarray
    alleles: np.ndarray
    ploidy: int
    unphased: bool


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

    Attributes
    ----------
    samples : tuple of str
        Names of the kept samples.
    """

    def __init__(self, names: Sequence[str], keep: np.ndarray | None, fields_at_once: int) -> None:
        self._names, self._keep = names, keep
        self._columns = len(names)
        self._sites_at_once = max(1, fields_at_once // len(names))
        self.samples = tuple(names) if keep is None else tuple(names[i] for i in keep)

    def read(self, batch: Batch, records: np.ndarray, begins: np.ndarray, alleles: np.ndarray) -> Genotypes:
        """Read the calls of some records.

        Parameters
        ----------
        batch : Batch
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
            does not have.
        """
        plain = _is_plain(alleles)
        level = np.flatnonzero(batch.ends[records] - begins == 4 * self._columns - 1)
        quads = self._quads(batch, begins[level])
        good = plain[level] & _are_quads(quads)
        triples = self._triples(quads, level, ~good)
        taken = np.zeros(len(records), bool)
        taken[level[good]] = True
        taken[triples.sites] = True
        quads = quads if good.all() else quads[good]
        calls = [triples] if len(triples.sites) else []
        rest = np.flatnonzero(~taken)
        for start in range(0, len(rest), self._sites_at_once):
            calls.append(self._fields(batch, records, begins, rest[start : start + self._sites_at_once]))
        for part in calls:
            self._check_alleles(batch, records, alleles, part)
        ploidy = 2 if len(quads) else max([part.ploidy for part in calls], default=2)
        planes = _Planes(alleles, plain, len(self.samples) * ploidy, ploidy)
        planes.add_quads(level[good], quads)
        for part in calls:
            planes.add_calls(part)
        unphased = _quads_unphased(quads) or any(part.unphased for part in calls)
        return planes.finish(unphased)

    def _quads(self, batch: Batch, begins: np.ndarray) -> np.ndarray:
        """Calls as 32-bit words that differ from '0|0' in the bits set; (sites, samples padded to 16), padding 0."""
        padded = np.zeros((len(begins), 16 * -(-len(self.samples) // 16)), np.uint32)
        if not len(begins):
            return padded
        words = windows(batch.data, begins, 4 * self._columns).view("<u4")
        kept = words if self._keep is None else words[:, self._keep]
        np.bitwise_xor(kept, _TEMPLATE, out=padded[:, : len(self.samples)])
        if self._keep is None or (self._keep == self._columns - 1).any():
            padded[:, len(self.samples) - 1] &= ~_END_BYTE  # what follows the last column is the end of the line
        return padded

    def _triples(self, quads: np.ndarray, sites: np.ndarray, wanted: np.ndarray) -> _Calls:
        """Those of the wanted sites in which every call is allele, separator, allele."""
        rows = np.flatnonzero(wanted)
        if not len(rows):
            return _Calls(rows, np.zeros((0, len(self.samples), 2), np.uint8), 1, False)
        raw = quads[rows, : len(self.samples)] ^ _TEMPLATE
        level = ((raw & _END_BYTE) == (_TEMPLATE & _END_BYTE)).all(axis=1)
        call = raw.view(np.uint8).reshape(len(rows), len(self.samples), 4)
        first, separator, second = _ALLELE[call[:, :, 0]], call[:, :, 1], _ALLELE[call[:, :, 2]]
        legal = (first != _NOT_ALLELE) & (second != _NOT_ALLELE) & (_KIND[separator] == _IS_SEPARATOR)
        level &= legal.all(axis=1)
        alleles = np.stack([first, second], axis=2)[level]
        return _Calls(sites[rows[level]], alleles, 2, _unphased(alleles, separator[level]))

    def _fields(self, batch: Batch, records: np.ndarray, begins: np.ndarray, sites: np.ndarray) -> _Calls:
        """Calls of records with any FORMAT that begins with GT."""
        starts = self._field_starts(batch, records[sites], begins[sites])
        byte = [batch.data.take(starts + i) for i in range(3)]
        kind = [_KIND.take(one) for one in byte]
        haploid = (kind[0] == _IS_ALLELE) & (kind[1] == _IS_END)
        diploid = (kind[0] == _IS_ALLELE) & (kind[1] == _IS_SEPARATOR) & (kind[2] == _IS_ALLELE)
        diploid &= _KIND.take(batch.data.take(starts + 3)) == _IS_END
        legal = haploid | diploid
        if not legal.all():
            self._refuse_call(batch, records[sites], starts, np.argwhere(~legal)[0])
        alleles = np.empty((*starts.shape, 2), np.uint8)
        alleles[:, :, 0] = _ALLELE.take(byte[0])
        alleles[:, :, 1] = np.where(haploid, np.uint8(_MISSING), _ALLELE.take(byte[2]))
        return _Calls(sites, alleles, 2 if diploid.any() else 1, _unphased(alleles, byte[1]))

    def _field_starts(self, batch: Batch, records: np.ndarray, begins: np.ndarray) -> np.ndarray:
        """Offset of every kept field, int64 (sites, samples)."""
        origin = begins[0]
        tabs = np.flatnonzero(batch.data[origin : batch.ends[records[-1]]] == ord("\t")) + origin
        first = np.searchsorted(tabs, begins)
        found = np.searchsorted(tabs, batch.ends[records]) - first + 1
        wrong = np.flatnonzero(found != self._columns)
        if len(wrong):
            i = int(wrong[0])
            raise batch.error(
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

    def _refuse_call(self, batch: Batch, records: np.ndarray, starts: np.ndarray, where: np.ndarray) -> None:
        row, column = int(where[0]), int(where[1])
        at = int(starts[row, column])
        end = at + int(np.argmax(_KIND[batch.data[at:]] == _IS_END))
        text = batch.text(at, end)
        trouble = "is not a genotype"
        if text.replace("/", "|").count("|") > 1:
            trouble = "has more than two alleles; only haploid and diploid calls are read"
        raise batch.error(int(records[row]), f"call {text!r} of sample {self._name(column)} {trouble}", at)

    def _check_alleles(self, batch: Batch, records: np.ndarray, alleles: np.ndarray, calls: _Calls) -> None:
        """Refuse allele indices that a record does not have."""
        count = (alleles[calls.sites] != NO_ALLELE).sum(axis=1).astype(np.uint8)[:, None, None]
        wrong = (calls.alleles >= count) & (calls.alleles != _MISSING)
        if wrong.any():
            row, column, which = np.argwhere(wrong)[0].tolist()
            raise batch.error(
                int(records[calls.sites[row]]),
                f"allele {calls.alleles[row, column, which]} of sample {self._name(column)} is beyond REF and ALT",
            )


def _is_plain(alleles: np.ndarray) -> np.ndarray:
    """Sites with two alleles, both of A, C, G, T, that differ."""
    two = (alleles[:, 0] < MISSING_LETTER) & (alleles[:, 1] < MISSING_LETTER) & (alleles[:, 0] != alleles[:, 1])
    plain: np.ndarray = two & (alleles[:, 2] == NO_ALLELE)
    return plain


def _are_quads(quads: np.ndarray) -> np.ndarray:
    """Rows in which every word is 0 or 1, '|' or '/', 0 or 1, tab."""
    if not (np.bitwise_or.reduce(quads, axis=0) & ~_ALLELE_BITS).any():
        return np.ones(len(quads), bool)
    differs = np.bitwise_or.reduce(quads, axis=1)
    good: np.ndarray = (differs & ~(_ALLELE_BITS | _SLASH)) == 0
    slashed = np.flatnonzero(good & ((differs & _SLASH) != 0))
    separators = quads[slashed] & _SEPARATOR_BYTE
    good[slashed] = ((separators == 0) | (separators == _SLASH)).all(axis=1)
    return good


def _quads_unphased(quads: np.ndarray) -> bool:
    """A word has '/' between different alleles."""
    if not (np.bitwise_or.reduce(quads, axis=0) & _SLASH).any():
        return False
    return bool(((quads ^ (quads >> np.uint32(16))) & (quads >> np.uint32(8)) & np.uint32(1)).any())


def _unphased(alleles: np.ndarray, separator: np.ndarray) -> bool:
    """A call has '/' between different observed alleles."""
    first, second = alleles[:, :, 0], alleles[:, :, 1]
    return bool(((separator == ord("/")) & (first != second) & (first != _MISSING) & (second != _MISSING)).any())


def _pack_quads(quads: np.ndarray) -> np.ndarray:
    """Two allele bits a word, uint32 (sites, words); one word of output takes 16 of input."""
    pairs = (quads & _ALLELE_BITS).view(np.uint64)
    nibbles = ((pairs * _GATHER) >> np.uint64(48)).astype(np.uint8).view("<u2")
    return (nibbles | (nibbles >> np.uint16(4))).astype(np.uint8).view("<u4").astype(np.uint32, copy=False)


class _Planes:
    """Gathers the planes of a batch, site-major."""

    def __init__(self, alleles: np.ndarray, plain: np.ndarray, haplotypes: int, ploidy: int) -> None:
        sites = len(alleles)
        self._alleles, self._plain = alleles, plain
        self._haplotypes, self._ploidy = haplotypes, ploidy
        self._bits = np.zeros((sites, words_for(haplotypes)), np.uint32)
        self._valid: np.ndarray | None = None
        self._letters = alleles[:, :2].copy()
        self._multi: list[tuple[np.ndarray, np.ndarray, np.ndarray]] = []

    def add_quads(self, sites: np.ndarray, quads: np.ndarray) -> None:
        if len(sites):
            self._bits[sites] = _pack_quads(quads)

    def add_calls(self, calls: _Calls) -> None:
        states = calls.alleles if self._ploidy == 2 else calls.alleles[:, :, :1]
        states = states.reshape(len(calls.sites), self._haplotypes)
        plain = self._plain[calls.sites]
        if plain.all():
            self._set(calls.sites, states == 1, states != _MISSING)
        else:
            self._set(calls.sites[plain], states[plain] == 1, states[plain] != _MISSING)
            self._add_lettered(calls.sites[~plain], states[~plain])

    def _set(self, sites: np.ndarray, bits: np.ndarray, observed: np.ndarray) -> None:
        self._bits[sites] = pack_states(bits)
        if self._valid is None and not observed.all():
            self._valid = np.tile(full_words(self._haplotypes), (len(self._bits), 1))
        if self._valid is not None:
            self._valid[sites] = pack_states(observed)

    def _add_lettered(self, sites: np.ndarray, states: np.ndarray) -> None:
        """Sites whose states have to be told by their letters: more alleles, '*', N, an allele named twice."""
        table = np.full((len(sites), _MISSING + 1), MISSING_LETTER, np.uint8)
        table[:, : self._alleles.shape[1]] = self._alleles[sites]
        letters = np.take_along_axis(table, states.astype(np.intp), axis=1)
        seen = np.stack([(letters == letter).any(axis=1) for letter in range(4)], axis=1)
        first, second = _two_letters(seen, self._alleles[sites, 0])
        self._letters[sites, 0], self._letters[sites, 1] = first, second
        observed = letters != MISSING_LETTER
        self._set(sites, observed & (letters != first[:, None]), observed)
        row, letter = np.nonzero(seen & (seen.sum(axis=1) > 2)[:, None])
        if len(row):
            one_vs_rest = pack_states(letters[row] == letter[:, None])
            self._multi.append((sites[row], letter.astype(np.uint8), one_vs_rest))

    def finish(self, unphased: bool) -> Genotypes:
        words = self._bits.shape[1]
        empty = (np.zeros(0, np.int64), np.zeros(0, np.uint8), np.zeros((0, words), np.uint32))
        site, letter, bits = (np.concatenate(column) for column in zip(empty, *self._multi, strict=True))
        order = np.argsort(site, kind="stable")
        return Genotypes(
            self._bits, self._valid, self._letters, site[order], letter[order], bits[order], self._ploidy, unphased
        )


def _two_letters(seen: np.ndarray, reference: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Codes of state 0 and 1: REF first where exactly two states with REF are seen, else in the order A, C, G, T."""
    count = seen.sum(axis=1)
    first = np.where(count > 0, np.argmax(seen, axis=1), MISSING_LETTER).astype(np.uint8)
    last = np.where(count > 0, 3 - np.argmax(seen[:, ::-1], axis=1), MISSING_LETTER).astype(np.uint8)
    later = seen.copy()
    later[np.arange(len(seen)), np.minimum(first, 3)] = False
    second = np.where(count > 1, np.argmax(later, axis=1), last).astype(np.uint8)
    swap = (count == 2) & (second == reference)
    return np.where(swap, second, first), np.where(swap, first, second)


assert WORD_BITS == 32  # _pack_quads packs 16 diploid calls into a word
