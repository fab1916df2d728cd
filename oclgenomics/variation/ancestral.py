"""Ancestral bases of sites: reading them from FASTA, and making the derived allele the second state."""

from __future__ import annotations

import os
from collections.abc import Callable, Generator
from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from oclgenomics.errors import InputError, ParameterError
from oclgenomics.io.source import Source
from oclgenomics.variation.alignment import Alignment
from oclgenomics.variation.packing import byte_table, full_words

_BLANKS = b" \t\r\n"
_ENSEMBL_FIELDS = 6  # kind, assembly, name, first bp, last bp and strand
_MOST_HEADER = 1 << 16
_HIGH, _LOW = (byte_table(0, {bases: 1}).astype(bool) for bases in ("ACGT", "acgt"))
_UPPER_CASE = np.uint8(0xDF)


class AncestralFasta:
    """Ancestral bases of chromosomes in a FASTA file, one chromosome in memory at a time.

    Parameters
    ----------
    path : str or path-like
        A file, uncompressed or compressed. A record has the name of its chromosome, or Ensembl's header
        (``ANCESTOR_for_chromosome:GRCh38:20:1:64444167:1``).

    Raises
    ------
    InputError
        It is standard input or a pipe, which cannot be read twice.
    """

    def __init__(self, path: str | os.PathLike[str]) -> None:
        self.path = os.fspath(path)
        if self.path == "-" or (os.path.exists(self.path) and not os.path.isfile(self.path)):
            why = "is no file; ancestral bases are read from a file only, as chromosomes may have another order there"
            raise InputError(why, source=self.path)
        self._records: Generator[tuple[str, int, bytes], None, None] | None = None
        self._wanted: tuple[str, ...] = ()
        self._last: tuple[str, int, bytes] = ("", 1, b"")

    def bases(self, name: str, positions: NDArray[np.int64]) -> NDArray[np.uint8] | None:
        """Return the bases of a chromosome at some positions, as they are written; None where the file lacks it.

        Parameters
        ----------
        name : str
            With or without "chr".
        positions : ndarray of int64, shape (sites,)
            Bp, counted from 1.

        Returns
        -------
        ndarray of uint8, shape (sites,), or None

        Raises
        ------
        InputError
            The file cannot be read, is no FASTA, or ends before a position.
        """
        found = self._sequence(name)
        if found is None:
            return None
        first, sequence = found
        places = positions - first
        beyond = np.flatnonzero((places < 0) | (places >= len(sequence)))
        if len(beyond):
            text = f"has bp {first:,} to {first + len(sequence) - 1:,} of {name}, and a site lies at "
            raise InputError(f"{text}{positions[beyond[0]]:,}; give that of the same assembly", source=self.path)
        return np.frombuffer(sequence, np.uint8)[places]

    def close(self) -> None:
        """Close the file."""
        if self._records is not None:
            self._records.close()
            self._records = None

    def _sequence(self, name: str) -> tuple[int, bytes] | None:
        """First bp and bases of a chromosome; the file is read on from the last one, then once more from its start."""
        other = name[3:] if name.startswith("chr") else f"chr{name}"
        self._wanted = (name, other)
        if self._last[0] in self._wanted:
            return self._last[1:]
        for begun in (True, False) if self._records is not None else (False,):
            if not begun:
                self._records = _records(self.path, lambda record: record in self._wanted)
            assert self._records is not None
            found = next(self._records, None)
            if found is not None:
                self._last = found
                return found[1:]
        self._records = None
        return None


def _records(path: str, wanted: Callable[[str], bool]) -> Generator[tuple[str, int, bytes], None, None]:
    """Name, first bp and bases of each record that is wanted when its header is read."""
    header, parts, own = b"", list[bytes](), ("", 1)
    in_header, taken, begun = False, False, False
    with Source(path) as source:
        for chunk in source:
            rest = chunk
            while rest:
                if in_header:
                    line, newline, rest = rest.partition(b"\n")
                    header += line
                    if len(header) > _MOST_HEADER:
                        raise InputError("is no FASTA: a header has no end", source=source.name)
                    if newline:
                        in_header, own = False, _name_of(header)
                        taken = wanted(own[0])
                    continue
                bases, mark, rest = rest.partition(b">")
                if not begun and (bases.strip() or not mark):
                    raise InputError("is no FASTA: it does not begin with '>'", source=source.name)
                begun = True
                if taken:
                    parts.append(bases.translate(None, _BLANKS))
                if mark:
                    if taken:
                        yield *own, b"".join(parts)
                    in_header, taken, header = True, False, b""
                    parts.clear()
        if taken:
            yield *own, b"".join(parts)


def _name_of(header: bytes) -> tuple[str, int]:
    """Chromosome and first bp of a record."""
    word = header.split(None, 1)[0].decode("utf-8", "replace") if header.strip() else ""
    fields = word.split(":")
    if len(fields) == _ENSEMBL_FIELDS and fields[3].isascii() and fields[3].isdigit():
        return fields[2], int(fields[3])
    return word, 1


def polarised(
    alignment: Alignment, *, lower_case: bool = False
) -> tuple[Alignment, NDArray[np.bool_], NDArray[np.bool_]]:
    """Make the ancestral allele of each site its first state, where it is known.

    Parameters
    ----------
    alignment : Alignment
        With `ancestral`; not changed.
    lower_case : bool
        Take lower-case bases, too, which are less certain.

    Returns
    -------
    alignment : Alignment
        Sites whose ancestral base is not known, or none of their alleles, are as they were.
    known : ndarray of bool, shape (sites,)
        The ancestral base is one of the two alleles.
    other : ndarray of bool, shape (sites,)
        It is known, but neither of them.

    Raises
    ------
    ParameterError
        The alignment has no ancestral bases, or alleles without bases.
    """
    if alignment.ancestral is None:
        raise ParameterError("ancestral", f"{alignment.name} has no ancestral bases (INFO/AA of a VCF or BCF)")
    if alignment.alphabet == "binary":
        why = f"the alleles of {alignment.name} are 0 and 1, of which 1 is the derived one; leave the option out"
        raise ParameterError("ancestral", why)
    written = _HIGH[alignment.ancestral] | (_LOW[alignment.ancestral] & lower_case)
    upper = alignment.ancestral & _UPPER_CASE
    first, second = (written & (upper == alignment.letters[:, state]) for state in (0, 1))
    turned = second & ~first
    bits = alignment.bits
    if turned.any():
        observed = full_words(alignment.haplotypes)[:, None] if alignment.valid is None else alignment.valid[:, turned]
        bits = bits.copy()
        bits[:, turned] = ~bits[:, turned] & observed
    letters = np.where(turned[:, None], alignment.letters[:, ::-1], alignment.letters)
    known = first | second
    return replace(alignment, bits=bits, letters=letters), known, written & ~known


def with_ancestral(alignment: Alignment, fasta: AncestralFasta) -> Alignment:
    """Return an alignment with the ancestral bases of a file; none is known of a chromosome that it does not have.

    Raises
    ------
    InputError
        The file cannot be read, is no FASTA, or ends before a site.
    """
    bases = fasta.bases(alignment.name, alignment.positions)
    return replace(alignment, ancestral=np.zeros(alignment.sites, np.uint8) if bases is None else bases)
