"""A board's figures, each beside the document that it comes from or the reason why it is assumed."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import fields

from hls_model.boards import KINDS, Amount, Board, Region, Source
from hls_model.ranges import Range

__all__ = ["sources_record", "sources_text"]


def sources_text(board: Board) -> str:
    """Return a paragraph for each figure: its name and value, and below them the source."""
    lines = [f"figures of the {board.title}"]
    for name, source in _ordered(board):
        lines += ["", f"{name}: {_shown(getattr(board, name))}", f"    {source}"]
    return "\n".join(lines)


def sources_record(board: Board) -> dict[str, object]:
    """Return the figures and their sources for JSON, by name."""
    return {
        name: {"value": _plain(getattr(board, name)), "document": one.document, "url": one.url, "note": one.note}
        for name, one in _ordered(board)
    }


def _ordered(board: Board) -> list[tuple[str, Source]]:
    """The sources in the order of the board's attributes."""
    return [(field.name, board.sources[field.name]) for field in fields(board) if field.name in board.sources]


def _shown(value: object) -> str:
    if isinstance(value, Range):
        return f"{value.likely:,g} ({value.low:,g} to {value.high:,g})"
    if isinstance(value, Amount):
        return ", ".join(f"{getattr(value, kind):,} {kind.upper()}" for kind in KINDS)
    if isinstance(value, Mapping):
        return ", ".join(f"{kind.upper()} {100 * share:g} %" for kind, share in value.items())
    if isinstance(value, tuple):
        return "; ".join(f"{region.name}: shell {_shown(region.shell)}" for region in value)
    return "-" if value is None else f"{value:,}"


def _plain(value: object) -> object:
    """The value in terms of JSON."""
    if isinstance(value, tuple):
        return [_plain(one) for one in value]
    if isinstance(value, Region):
        return {"name": value.name, "available": vars(value.available), "shell": vars(value.shell)}
    return (
        dict(vars(value))
        if isinstance(value, (Range, Amount))
        else dict(value)
        if isinstance(value, Mapping)
        else value
    )
