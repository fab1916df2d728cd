"""The options that a database was built with, as its file has them."""

from __future__ import annotations

from dataclasses import fields

from oclgenomics.classify.options import BuildOptions, SketchOptions
from oclgenomics.errors import InputError, UsageError
from oclgenomics.io.strict_json import Fields

__all__ = ["stored_options"]

SKETCH = tuple(field.name for field in fields(SketchOptions))
BUILD = tuple(field.name for field in fields(BuildOptions))


def stored_options(stored: Fields) -> BuildOptions:
    """Take options from a description.

    Raises
    ------
    InputError
        One is missing, unknown or not what it may be.
    """
    stored.only(BUILD)
    sketch = stored.inner("sketch")
    sketch.only(SKETCH)
    try:
        return BuildOptions(
            sketch=SketchOptions(**{name: sketch.get(name, int) for name in SKETCH}),
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
