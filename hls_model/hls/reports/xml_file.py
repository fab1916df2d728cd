"""An XML file as a tree, without what makes XML dangerous: no document types, no entities, bounded size and depth."""

from __future__ import annotations

import os
import re
from typing import Any
from xml.etree import ElementTree
from xml.parsers import expat

from hls_model.errors import ModelInputError
from hls_model.reading import read_text

__all__ = ["LARGEST_REPORT", "Whole", "child", "parse_xml", "range_of", "text_of"]

LARGEST_REPORT = 64 << 20  # bytes; reports of large designs have a few million
DEEPEST = 60  # elements within each other; reports have about ten
LARGEST_NUMBER = 1 << 63
UNKNOWN = {"", "-", "?", "undef", "NA", "N/A"}

Whole = tuple[int, int]
"""The least and the greatest of a count that depends on the data; equal where it does not."""


class _RefusedError(Exception):
    """What a report never has."""


def parse_xml(path: str | os.PathLike[str], text: str | None = None) -> ElementTree.Element:
    """Return the root of an XML file.

    Parameters
    ----------
    path : path
        The file.
    text : str, optional
        Its text, where it has been read.

    Raises
    ------
    ModelInputError
        A file that cannot be read, is too large, malformed or too deep, or declares a document type.
    """
    name = os.fspath(path)
    if text is None:
        text = read_text(path, "is no text", LARGEST_REPORT)
    builder = ElementTree.TreeBuilder()
    parser = expat.ParserCreate("utf-8")
    depth = 0

    def start(tag: str, attributes: dict[str, str]) -> None:
        nonlocal depth
        depth += 1
        if depth > DEEPEST:
            raise _RefusedError(f"elements lie more than {DEEPEST} deep, at <{tag[:40]}>")
        builder.start(tag, attributes)

    def end(tag: str) -> None:
        nonlocal depth
        depth -= 1
        builder.end(tag)

    def refuse(*_: Any) -> None:
        raise _RefusedError("declares a document type, which no report does")

    parser.StartElementHandler, parser.EndElementHandler = start, end
    parser.CharacterDataHandler = builder.data
    parser.StartDoctypeDeclHandler = refuse
    try:
        parser.Parse(text.encode(), True)
        return builder.close()
    except _RefusedError as error:
        raise ModelInputError(f"{name}: {error}") from None
    except (expat.ExpatError, ValueError) as error:
        raise ModelInputError(f"{name}: is no XML: {error}") from error


def child(parent: ElementTree.Element, path: str, name: str) -> ElementTree.Element:
    """Return an element that a report has to have.

    Raises
    ------
    ModelInputError
        It is missing; names the file and the element.
    """
    found = parent.find(path)
    if found is None:
        raise ModelInputError(f"{name}: <{parent.tag}> has no <{path}>; is this a synthesis report (*_csynth.xml)?")
    return found


def text_of(element: ElementTree.Element | None) -> str:
    """Return the text of an element without blanks around it; nothing where it is missing."""
    return (element.text or "").strip() if element is not None else ""


def range_of(element: ElementTree.Element | None, name: str) -> Whole | None:
    """Return a count or a range of counts, None where the report does not know it.

    Counts are written as "12", "30 ~ 541", or in the elements range, min and max; "undef" and "?" are not known.

    Raises
    ------
    ModelInputError
        Another text; names the file and the element.
    """
    if element is None:
        return None
    inner = element.find("range")
    if inner is not None:
        ends = [_count(text_of(inner.find(end)), element.tag, name) for end in ("min", "max")]
    else:
        ends = [_count(part.strip(), element.tag, name) for part in text_of(element).split("~")]
    if len(ends) > 2:
        raise ModelInputError(f"{name}: <{element.tag[:40]}> is {text_of(element)[:40]!r}, which is no range")
    least, most = ends[0], ends[-1]
    if least is None or most is None:
        return None
    if least > most:
        raise ModelInputError(f"{name}: <{element.tag[:40]}> goes from {least} down to {most}")
    return least, most


def _count(text: str, tag: str, name: str) -> int | None:
    if text in UNKNOWN:
        return None
    if not re.fullmatch(r"[0-9]{1,19}", text) or int(text) >= LARGEST_NUMBER:
        raise ModelInputError(f"{name}: <{tag[:40]}> is {text[:40]!r}, which is no count")
    return int(text)
