"""Results as JSON has them: which attributes, and under which names."""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping
from operator import attrgetter
from typing import Any


def record_of(thing: object, names: str) -> dict[str, Any]:
    """Return attributes of an object as a record, in the given order.

    Parameters
    ----------
    thing : object
    names : str
        Words between blanks: the name of an attribute, or `key=name` where the record has it under another key. A name
        may be dotted.

    Returns
    -------
    dict of str to object
        What has a `record` is that record, other dataclasses are dicts of their fields, and arrays and tuples lists.

    Examples
    --------
    >>> from hls_model.ranges import Range
    >>> record_of(Range(1, 2, 4), "low most=high")
    {'low': 1, 'most': 4}
    """
    pairs = [(key, name or key) for key, _, name in (word.partition("=") for word in names.split())]
    return {key: plain(attrgetter(name)(thing)) for key, name in pairs}


def plain(value: Any) -> Any:
    """Return a value in terms of JSON; what is none of the kinds of `record_of` is returned as it is."""
    if hasattr(value, "record"):
        return value.record()
    if dataclasses.is_dataclass(value):
        value = vars(value)
    if isinstance(value, Mapping):
        return {key: plain(one) for key, one in value.items()}
    if hasattr(value, "tolist"):  # an array
        return value.tolist()
    return [plain(one) for one in value] if isinstance(value, (tuple, list)) else value
