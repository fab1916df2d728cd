"""JSON that every reader takes: infinities and what is no number, which JSON has no words for, become null."""

from __future__ import annotations

import json
import math
from collections.abc import Mapping
from typing import Any

__all__ = ["json_text"]


def json_text(value: Any, indent: int | None = None) -> str:
    """Return a value as JSON, without a newline at its end."""
    try:
        return json.dumps(value, allow_nan=False, indent=indent)
    except ValueError:  # there is one somewhere
        return json.dumps(_plain(value), allow_nan=False, indent=indent)


def _plain(value: Any) -> Any:
    if isinstance(value, Mapping):
        return {key: _plain(inner) for key, inner in value.items()}
    if isinstance(value, (list, tuple)):
        return [_plain(inner) for inner in value]
    return None if isinstance(value, float) and not math.isfinite(value) else value
