"""Names of targets, and taxids, from the headers of reference sequences, by the rules of MetaCache."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Sequence
from itertools import count

import numpy as np
from numpy.typing import NDArray

from oclgenomics.classify.options import IdFormat

# RefSeq's and GenBank's accessions, with the version if there is one.
_ACCESSION = re.compile(r"(?:^|[^0-9A-Za-z])([A-Z][_A-Z]{1,9}[0-9]{5,}(?:\.[0-9]+)?)")
_VERSIONED = re.compile(r"([A-Z][_A-Z]{1,9}[0-9]{5,})\.[0-9]+")
_NUMBER = re.compile(r"[ \t]*\+?([0-9]{1,18})(?![0-9])")


def _accession(header: str) -> str:
    found = _ACCESSION.search(header)
    return found[1] if found else ""


def _after(header: str, mark: str, separators: int = 0) -> str | None:
    """What follows a mark and some separators, up to the next bar, else up to the next blank or the end."""
    begin = header.find(mark)
    if begin < 0:
        return None
    begin += len(mark) + separators
    end = header.find("|", begin)
    if end < 0:
        end = header.find(" ", begin)
    return header[begin:] if end < 0 else header[begin:end]


def _gi(header: str) -> str:
    """GenBank's old identifier."""
    found = (_after(header, mark) for mark in ("gi|", "gi:", "gi="))
    return next((text for text in found if text is not None), "").strip()


def file_stem(path: str) -> str:
    """Return the name of a file up to its first point."""
    return path.rpartition("/")[2].partition(".")[0]


def without_version(name: str) -> str:
    """Return an accession without its version; any other name as it is."""
    found = _VERSIONED.fullmatch(name)
    return found[1] if found else name


def _first_word(header: str) -> str:
    return next(iter(header.split()), "")


def _smart(header: str) -> str:
    return _accession(header) or _gi(header) or file_stem(header)


_RULES: dict[IdFormat, Callable[[str], str]] = {
    "smart": _smart,
    "ncbi": _accession,
    "gi": _gi,
    "filename": file_stem,
    "leadingword": _first_word,
}


def raw_id(text: str, id_format: IdFormat) -> str:
    """Return what a rule finds in a header or in the path of a file; "" where it finds nothing.

    Parameters
    ----------
    text : str
    id_format : {'smart', 'ncbi', 'gi', 'filename', 'leadingword'}
        An accession (`ncbi`), what follows "gi|" (`gi`), the text behind the last slash up to the first point
        (`filename`), the first of these that is there (`smart`), or the first word.
    """
    return _RULES[id_format](text)


def sequence_ids(headers: Iterable[str], sources: Iterable[str], id_format: IdFormat) -> list[str]:
    """Name reference sequences; several may have one name.

    Parameters
    ----------
    headers : iterable of str
        Without ">".
    sources : iterable of str
        The file of each one, by which a sequence without any header is named.
    id_format : {'smart', 'ncbi', 'gi', 'filename', 'leadingword'}
        See `raw_id`; where the rule finds nothing, the whole header is taken.
    """
    rule = _RULES[id_format]
    return [rule(header) or header or file_stem(source) for header, source in zip(headers, sources, strict=True)]


def told_apart(ids: Sequence[str], before: Iterable[str] = ()) -> list[str]:
    """Return names of which no two are equal, nor one of those before.

    "!1" is added to the second one of a name, "!2" to the third one, and so on.
    """
    taken = set(before)
    numbers: dict[str, count[int]] = {}
    named = []
    for one in ids:
        name = one
        while name in taken:
            name = f"{one}!{next(numbers.setdefault(one, count(1)))}"
        taken.add(name)
        named.append(name)
    return named


def header_taxids(headers: Iterable[str]) -> NDArray[np.int64]:
    """Return the taxid that follows "taxid" and one more character in each header, int64; 0 where there is none."""
    return np.array([_header_taxid(header) for header in headers], np.int64)


def _header_taxid(header: str) -> int:
    found = _NUMBER.match(_after(header, "taxid", separators=1) or "")
    return int(found[1]) if found else 0
