"""The fixed columns of a block of VCF records, located and judged with array operations.

A block is some whole lines in one array of bytes. The columns of all of them are searched in as many bytes of each line
as most need; the few lines whose INFO is far longer are split one by one.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from oclgenomics.variation.alleles import (
    LETTER_CODES,
    MAX_ALTERNATIVES,
    NO_ALLELE,
    is_fixed,
    is_other_kind,
    read_numbers,
)
from oclgenomics.variation.bed import MAX_BP
from oclgenomics.variation.packing import byte_table
from oclgenomics.variation.readers.input_buffer import PADDING, bytes_at
from oclgenomics.variation.readers.line_blocks import LineBlock

FIXED_COLUMNS = 9
_TAB, _HASH = 9, ord("#")
MAX_DIGITS = len(str(MAX_BP))
_INFO_VALUE = 24  # longest INFO value compared


@dataclass
class Records:
    """What the fixed columns of a block say.

    Attributes
    ----------
    positions : ndarray of int64, shape (records,)
        POS, bp.
    run_starts : ndarray of int64
        Records at which CHROM differs from the record before; always begins with 0.
    run_names : list of str
        CHROM of each run.
    tabs : ndarray of int64, shape (records, 9)
        Offsets of the first nine tabs in the block.
    """

    positions: NDArray[np.int64]
    run_starts: NDArray[np.int64]
    run_names: list[str]
    tabs: NDArray[np.int64]


class ColumnFinder:
    """Locates the fixed columns; remembers how far the records of this input have to be looked at.

    What it remembers changes no result, so that several threads may use it.
    """

    def __init__(self) -> None:
        self._width = 64

    def find(self, block: LineBlock) -> Records:
        """Locate the columns of every record and read CHROM and POS.

        Raises
        ------
        InputError
            Fewer than ten columns, a header line among the records, or POS that is not a number.
        """
        headers = np.flatnonzero(block.data[block.starts] == _HASH)
        if len(headers):
            raise block.error(int(headers[0]), "a header line among the records; join VCF files with bcftools concat")
        tabs = self._tabs(block)
        starts, names = _chromosome_runs(block, tabs[:, 0])
        return Records(_positions(block, tabs), starts, names, tabs)

    def _tabs(self, block: LineBlock) -> NDArray[np.int64]:
        """Offsets of the first nine tabs, int64 (records, 9)."""
        wanted = self._width
        while True:
            width = min(wanted, len(block.data))
            begins = np.minimum(block.starts, len(block.data) - width)
            found = np.flatnonzero(bytes_at(block.data, begins, width) == _TAB)
            rows = found // width  # with the remainder below: a division by a scalar is far faster than divmod
            at = found - rows * width + begins[rows]
            own = (at >= block.starts[rows]) & (at < block.ends[rows])
            if not own.all():
                rows, at = rows[own], at[own]
            counts = np.bincount(rows, minlength=len(block.starts))
            short = np.flatnonzero(counts < FIXED_COLUMNS)
            longer = (block.ends[short] - block.starts[short]) > width
            if 4 * longer.sum() <= len(block.starts):
                break
            wanted *= 2
        self._width = wanted
        first = np.cumsum(counts) - counts
        index = first[:, None] + np.arange(FIXED_COLUMNS)
        tabs = at[np.minimum(index, len(at) - 1)] if len(at) else np.zeros(index.shape, np.int64)
        for record in short.tolist():  # the few records whose INFO is far longer than their neighbours'
            tabs[record] = _tabs_of_line(block, record)
        return tabs


def _tabs_of_line(block: LineBlock, record: int) -> NDArray[np.int64]:
    start, end = int(block.starts[record]), int(block.ends[record])
    tabs = np.flatnonzero(block.data[start:end] == _TAB)
    if len(tabs) < FIXED_COLUMNS:
        raise block.error(record, f"{len(tabs) + 1} columns; a record with genotypes has at least 10, parted by tabs")
    return start + tabs[:FIXED_COLUMNS]


def _positions(block: LineBlock, tabs: NDArray[np.int64]) -> NDArray[np.int64]:
    """POS as int64."""
    begin, size = tabs[:, 0] + 1, tabs[:, 1] - tabs[:, 0] - 1
    width = min(int(size.max(initial=0)), 16)
    digits = bytes_at(block.data, begin, width) - np.uint8(ord("0"))
    inside = np.arange(width) < size[:, None]
    bad = np.flatnonzero((size < 1) | (size > MAX_DIGITS) | ((digits > 9) & inside).any(axis=1))
    if len(bad):
        record = int(bad[0])
        text = block.text(int(begin[record]), int(tabs[record, 1]))
        trouble = f"beyond {MAX_BP:,} bp" if text.isdecimal() else "not a whole number"
        raise block.error(record, f"POS is {text!r}, {trouble}", int(begin[record]))
    powers = 10 ** np.arange(width - 1, -1, -1, dtype=np.int64)
    positions: NDArray[np.int64] = np.where(inside, digits, 0) @ powers // 10 ** (width - size)
    return positions


def _chromosome_runs(block: LineBlock, first_tab: NDArray[np.int64]) -> tuple[NDArray[np.int64], list[str]]:
    """Starts and names of the runs of equal CHROM."""
    size = first_tab - block.starts
    width = min(int(size.max(initial=0)), PADDING)
    names = bytes_at(block.data, block.starts, width)
    names[np.arange(width) >= size[:, None]] = 0
    changed = (size[1:] != size[:-1]) | (names[1:] != names[:-1]).any(axis=1)
    starts = np.concatenate([np.zeros(1, np.int64), np.flatnonzero(changed) + 1])
    return starts, [block.text(int(block.starts[i]), int(first_tab[i])) for i in starts.tolist()]


def judge_records(
    block: LineBlock, tabs: NDArray[np.int64]
) -> tuple[NDArray[np.bool_], NDArray[np.uint8], list[tuple[str, NDArray[np.bool_]]]]:
    """Which records are sites with genotypes.

    Parameters
    ----------
    block : LineBlock
        The lines.
    tabs : ndarray of int64, shape (records, 9)
        As `Records.tabs`.

    Returns
    -------
    keep : ndarray of bool, shape (records,)
        Records to read.
    alleles : ndarray of uint8, shape (records, 6)
        Code of each allele index: A, C, G, T = 0..3, `MISSING_LETTER`, `NO_ALLELE`.
    reasons : list of (reason, ndarray of bool)
        Every reason to leave a record out; a record is counted under the first that applies.
    """
    alleles, single = _alleles(block, tabs)
    monomorphic, other_kind = _info_says(block, tabs)
    reasons = [
        ("not a SNP", ~single | other_kind),
        ("no alternative allele", single & (alleles[:, 1] == NO_ALLELE)),
        ("filter", ~_passes(block, tabs)),
        ("AF 0 or 1", monomorphic),
        ("no GT", ~_has_genotypes(block, tabs)),
    ]
    keep = ~np.logical_or.reduce([flags for _, flags in reasons])
    return keep, alleles, reasons


def judge_as_raisd(
    block: LineBlock, tabs: NDArray[np.int64]
) -> tuple[NDArray[np.bool_], NDArray[np.uint8], list[tuple[str, NDArray[np.bool_]]]]:
    """Which records RAiSD 2.9 takes: those with one ALT allele of one character; as `judge_records`."""
    alleles, single = _alleles(block, tabs)
    reasons = [
        ("not a SNP", ~single),
        ("several alternative alleles", single & (alleles[:, 2] != NO_ALLELE)),
        ("no alternative allele", single & (alleles[:, 1] == NO_ALLELE)),
        ("no GT", ~_has_genotypes(block, tabs)),
    ]
    keep = ~np.logical_or.reduce([flags for _, flags in reasons])
    return keep, alleles, reasons


def _alleles(block: LineBlock, tabs: NDArray[np.int64]) -> tuple[NDArray[np.uint8], NDArray[np.bool_]]:
    """Letter codes by allele index, and whether all alleles are single bases, or 0 and 1."""
    reference, size = tabs[:, 2] + 1, tabs[:, 4] - tabs[:, 3] - 1
    alleles = np.full((len(tabs), 1 + MAX_ALTERNATIVES), NO_ALLELE, np.uint8)
    alleles[:, 0] = LETTER_CODES[block.data[reference]]
    single = (tabs[:, 3] - reference == 1) & (alleles[:, 0] != NO_ALLELE)
    single &= (size % 2 == 1) & (size < 2 * MAX_ALTERNATIVES)
    for i in range(min(MAX_ALTERNATIVES, (int(size.max(initial=0)) + 1) // 2)):
        has = single & (size > 2 * i)
        at = tabs[:, 3] + 1 + 2 * i
        alleles[has, i + 1] = LETTER_CODES[block.data[at[has]]]
        more = has & (size > 2 * i + 1)
        single[more] &= block.data[at[more] + 1] == ord(",")
        none = (size == 1) & (block.data[at] == ord("."))
        single &= ~has | (alleles[:, i + 1] != NO_ALLELE) | none
    two = (tabs[:, 3] - reference == 1) & (size == 1)
    named = [np.where(two, block.data[at], 0) for at in (reference, tabs[:, 3] + 1)]
    return alleles, single | read_numbers(alleles, *named)


def _passes(block: LineBlock, tabs: NDArray[np.int64]) -> NDArray[np.bool_]:
    """FILTER is PASS or '.'."""
    begin, size = tabs[:, 5] + 1, tabs[:, 6] - tabs[:, 5] - 1
    word = bytes_at(block.data, begin, 4)
    named = (size == 4) & (word == np.frombuffer(b"PASS", np.uint8)).all(axis=1)
    passes: NDArray[np.bool_] = named | ((size == 1) & (word[:, 0] == ord(".")))
    return passes


def _has_genotypes(block: LineBlock, tabs: NDArray[np.int64]) -> NDArray[np.bool_]:
    """FORMAT begins with GT; the format demands that it comes first."""
    begin, size = tabs[:, 7] + 1, tabs[:, 8] - tabs[:, 7] - 1
    word = bytes_at(block.data, begin, 3)
    named = (word[:, 0] == ord("G")) & (word[:, 1] == ord("T")) & ((size == 2) | (word[:, 2] == ord(":")))
    has: NDArray[np.bool_] = named & (size >= 2)
    for record in np.flatnonzero(~has & (size > 3)).tolist():
        if "GT" in block.text(int(begin[record]), int(tabs[record, 8])).split(":"):
            raise block.error(record, "GT is not the first key of FORMAT, as VCF demands", int(begin[record]))
    return has


def ancestral_bases(block: LineBlock, tabs: NDArray[np.int64]) -> NDArray[np.uint8]:
    """Return the base of INFO/AA of each record as it is written, ASCII, uint8 (records,); 0 where it is no base.

    What follows '|' is about indels, as in the files of the 1000 Genomes Project.
    """
    equals, record = _equals_signs(block, tabs)
    named = (block.data[equals - 1] == ord("A")) & (block.data[equals - 2] == ord("A"))
    before, behind = block.data[equals - 3], block.data[equals + 2]
    hits = np.flatnonzero(
        named
        & ((before == ord(";")) | (before == _TAB))
        & ((behind == ord(";")) | (behind == _TAB) | (behind == ord("|")))
    )
    found = np.zeros(len(tabs), np.uint8)
    found[record[hits]] = block.data[equals[hits] + 1]
    return found


def _info_says(block: LineBlock, tabs: NDArray[np.int64]) -> tuple[NDArray[np.bool_], NDArray[np.bool_]]:
    """Records whose INFO says AF= 0 or 1 for every allele, and those whose VT= is not SNP."""
    equals, record = _equals_signs(block, tabs)
    before = [block.data[equals - i] for i in (1, 2, 3)]
    begins = (before[2] == ord(";")) | (before[2] == _TAB)
    judged = []
    for key, decide, told in ((b"AF", is_fixed, _not_fixed_at_once), (b"VT", is_other_kind, _snp_at_once)):
        hits = np.flatnonzero(begins & (before[1] == key[0]) & (before[0] == key[1]))
        flags = np.zeros(len(tabs), bool)
        flags[record[hits]] = _decide_values(block.data, equals[hits] + 1, decide, told)
        judged.append(flags)
    return judged[0], judged[1]


def _equals_signs(block: LineBlock, tabs: NDArray[np.int64]) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Offsets of the '=' in INFO that may follow a key of two letters, and their records."""
    width = int((tabs[:, 7] - tabs[:, 6]).max(initial=0))
    if width * len(tabs) < len(block.data) and tabs[-1, 6] + width <= len(block.data):
        found = np.flatnonzero(bytes_at(block.data, tabs[:, 6], width) == ord("="))
        record = found // max(width, 1)
        equals = tabs[record, 6] + found - record * width
    else:  # one record with a huge INFO must not widen the copies of all
        equals = np.flatnonzero(block.data == ord("="))
        record = np.maximum(np.searchsorted(block.starts, equals, side="right") - 1, 0)
    inside = (equals > tabs[record, 6] + 2) & (equals < tabs[record, 7])
    return equals[inside], record[inside]


def _decide_values(
    data: NDArray[np.uint8],
    begin: NDArray[np.int64],
    decide: Callable[[bytes], bool],
    told: Callable[[NDArray[np.uint8]], NDArray[np.bool_]],
) -> NDArray[np.bool_]:
    """Apply `decide` to each distinct INFO value; those that `told` knows to be False at once are left out."""
    flags = np.zeros(len(begin), bool)
    values = bytes_at(data, begin, _INFO_VALUE)
    rows = np.flatnonzero(~told(values))
    if not len(rows):
        return flags
    values = values[rows]
    values[np.logical_or.accumulate((values == ord(";")) | (values == _TAB), axis=1)] = 0
    texts, which = np.unique(values.view(f"S{_INFO_VALUE}").ravel(), return_inverse=True)
    flags[rows] = np.array([decide(bytes(text)) for text in texts], bool)[which]
    return flags


_IN_VALUE = byte_table(0, {"23456789": 1, ";\t": 2})


def _not_fixed_at_once(values: NDArray[np.uint8]) -> NDArray[np.bool_]:
    """Frequencies with a digit from 2 to 9."""
    kinds = _IN_VALUE[values]
    digit, end = kinds == 1, kinds == 2
    first_end = np.where(end.any(axis=1), end.argmax(axis=1), _INFO_VALUE)
    told: NDArray[np.bool_] = digit.any(axis=1) & (digit.argmax(axis=1) < first_end)
    return told


def _snp_at_once(values: NDArray[np.uint8]) -> NDArray[np.bool_]:
    """Kinds that are just SNP."""
    snp = np.ascontiguousarray(values[:, :4]).view(np.uint32).ravel()
    told: NDArray[np.bool_] = (snp == _SNP[0]) | (snp == _SNP[1])
    return told


_SNP = np.frombuffer(b"SNP;SNP\t", np.uint32)
