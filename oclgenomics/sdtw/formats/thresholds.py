"""Files of thresholds: JSON that says what they are for, under a checksum."""

from __future__ import annotations

import json
import os
from collections.abc import Mapping
from dataclasses import asdict
from typing import Any

from oclgenomics.errors import InputError, OutputError, ParameterError
from oclgenomics.io.array_layout import checksum
from oclgenomics.io.json_text import Fields, json_text, load_fields
from oclgenomics.io.packed_file import open_packed
from oclgenomics.io.text_file import read_text
from oclgenomics.sdtw.decisions.basis import Basis, KnownTrim, ReadKind, ReferenceFacts
from oclgenomics.sdtw.decisions.chosen_by import ChosenBy
from oclgenomics.sdtw.decisions.thresholds import Stage, Thresholds
from oclgenomics.sdtw.options import AlignOptions
from oclgenomics.signals import TrimOptions
from oclgenomics.signals.chemistry import PORES

KIND, VERSION = "sdtw thresholds", 2
CHECKSUM_KEY = b"sdtw  thresholds"
MAX_FILE_BYTES = 1 << 24
NAMES = ("kind", "version", *Thresholds.__dataclass_fields__, "checksum")
OPTIONS: dict[str, Any] = dict.fromkeys(("norm", "cost", "bonus", "arithmetic"), str) | dict.fromkeys(
    ("bits", "step"), (int,)
)
TRIM: dict[str, Any] = {"stall": bool, "extra": int, "max_trim": (int,), "keep": bool}
ON_PURPOSE = "for thresholds of your own give `stages`, or let `sdtw evaluate --stages` write a file of them"


def write_thresholds(path: str | os.PathLike[str], thresholds: Thresholds) -> None:
    """Write thresholds to a JSON file.

    Raises
    ------
    OutputError
        It cannot be written.
    """
    given = {"kind": KIND, "version": VERSION, **asdict(thresholds)}
    given["options"] = asdict(thresholds.options.resolved())
    record = json.loads(json_text(given | {"made": dict(thresholds.made)}))  # as a reader will know it
    with open_packed(path, "w", OutputError) as stream:
        stream.write(json_text(record | {"checksum": record_checksum(record)}, indent=1) + "\n")


def record_checksum(record: Mapping[str, Any]) -> str:
    """Return the checksum of all in a record but its checksum, however the file that holds it is laid out."""
    values = {name: value for name, value in record.items() if name != "checksum"}
    text = json.dumps(values, sort_keys=True, separators=(",", ":"))
    return f"{checksum(CHECKSUM_KEY, text.encode()):016x}"


def read_thresholds(path: str | os.PathLike[str]) -> Thresholds:
    """Read a file of thresholds.

    Raises
    ------
    InputError
        It cannot be read, was changed after it was written, or something in it is missing, unknown or no possible
        value.
    """
    text, name = read_text(path, MAX_FILE_BYTES)
    record = load_fields(text, name)
    if record.values.get("kind") != KIND:
        raise InputError("holds no thresholds; give a file of `sdtw evaluate` or `sdtw calibrate`", source=name)
    version = record.get("version", int)
    if version == 1:
        why = "is 1: such files do not say which references, model and trimming they are for"
        record.refuse("version", f"{why}; make new ones with `sdtw evaluate`, or give their stages with `stages`")
    if version != VERSION:
        record.refuse("version", f"is {str(version)[:20]}; this program reads version {VERSION}")
    if record.get("checksum", str) != record_checksum(record.values):
        raise InputError(f"was changed after it was written (its checksum is another); {ON_PURPOSE}", source=name)
    record.only(NAMES)
    try:
        ChosenBy.from_made(record.get("made", dict))
        return Thresholds(
            tuple(
                _made(one, Stage, prefix=int, reject_above=float, accept_below=(float,))
                for one in record.objects("stages")
            ),
            _made(record.inner("options"), AlignOptions, **OPTIONS),
            record.get("score", str),
            _names(record, "references"),
            record.get("made", dict),
            None if record.values["basis"] is None else _basis(record.inner("basis")),
        )
    except ParameterError as error:
        raise InputError(str(error), source=name) from None


def _made(record: Fields, cls: type[Any], **kinds: type | tuple[type]) -> Any:
    """An object of these fields; those whose kind is in a tuple may be null."""
    record.only(tuple(kinds))
    given = {
        name: record.get(name, kind[0], optional=True) if isinstance(kind, tuple) else record.get(name, kind)
        for name, kind in kinds.items()
    }
    return cls(**given)


def _names(record: Fields, name: str) -> tuple[str, ...]:
    names: list[Any] = record.get(name, list)
    if not all(isinstance(one, str) for one in names):
        record.refuse(name, "are not all texts")
    return tuple(names)


def _basis(record: Fields) -> Basis:
    record.only(tuple(Basis.__dataclass_fields__))
    trim: KnownTrim = (
        "unknown" if record.values["trim"] == "unknown" else _made(record.inner("trim"), TrimOptions, **TRIM)
    )
    return Basis(trim, tuple(_facts(one) for one in record.objects("references")), _kind(record.inner("reads")))


def _facts(record: Fields) -> ReferenceFacts:
    found: ReferenceFacts = _made(record, ReferenceFacts, **dict.fromkeys(ReferenceFacts.__dataclass_fields__, str))
    if found.role not in ("target", "decoy"):
        record.refuse("role", "is neither target nor decoy")
    return found


def _kind(record: Fields) -> ReadKind:
    found: ReadKind = _made(record, ReadKind, pore=str, molecule=str, rate=(float,))
    for name, choices in (("pore", ("", *PORES)), ("molecule", ("", "dna", "rna"))):
        if getattr(found, name) not in choices:
            record.refuse(name, f"is none of {', '.join(choices[1:])}")
    if found.rate is not None and found.rate <= 0:
        record.refuse("rate", "is not above 0")
    return found
