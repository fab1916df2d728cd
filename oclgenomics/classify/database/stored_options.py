"""The options that a database was built with, as its file has them."""

from __future__ import annotations

from dataclasses import fields
from typing import Any

from oclgenomics.classify.options import BuildOptions, SketchOptions
from oclgenomics.errors import InputError, ParameterError, UsageError
from oclgenomics.io.strict_json import Fields

__all__ = ["UNMASKED", "stored_options"]

UNMASKED = 1  # version of the format before k-mers were masked: every k-mer may be a feature
NOT_MASKED = {"min_triplets": 0, "soft_masked": False}
SKETCH = tuple(field.name for field in fields(SketchOptions))
BUILD = tuple(field.name for field in fields(BuildOptions))


def stored_options(stored: Fields, version: int) -> BuildOptions:
    """Take options from the description of a file of some version of the format.

    Raises
    ------
    InputError
        One is missing, unknown or not what it may be.
    """
    stored.only(BUILD)
    try:
        return BuildOptions(
            sketch=_sketch_options(stored.inner("sketch"), version),
            max_locations=stored.get("max_locations", int),
            remove_overpopulated=stored.get("remove_overpopulated", bool),
            remove_ambiguous=stored.get("remove_ambiguous", str, optional=True),
            max_ambiguous=stored.get("max_ambiguous", int),
            sequence_id_format=stored.get("sequence_id_format", str),
        )
    except UsageError as error:
        raise InputError(
            f"was built with options that this program does not have: {error}", source=stored.source
        ) from None


def _sketch_options(stored: Fields, version: int) -> SketchOptions:
    unmasked: dict[str, Any] = NOT_MASKED if version == UNMASKED else {}
    names = [name for name in SKETCH if name not in unmasked]
    stored.only(names)
    values: dict[str, Any] = {name: stored.get(name, bool if name == "soft_masked" else int) for name in names}
    options = SketchOptions(**values, **unmasked)
    chosen = [name for name in names if getattr(options, name) != values[name]]  # since the file leaves it open
    if chosen:
        raise ParameterError(chosen[0], "is not told", values[chosen[0]])
    return options
