"""Files of thresholds: JSON that says what they are for, under a checksum."""

from __future__ import annotations

import json
import os
from collections.abc import Mapping
from dataclasses import asdict, fields
from typing import Any

from oclgenomics.errors import InputError, OutputError, ParameterError
from oclgenomics.io.checksum import checksum
from oclgenomics.io.packed_file import open_packed
from oclgenomics.io.plain_json import json_text
from oclgenomics.io.strict_json import Fields, load_fields
from oclgenomics.io.text_file import read_text
from oclgenomics.sdtw.decisions.basis import Basis, KnownTrim, ReadKind, ReferenceFacts
from oclgenomics.sdtw.decisions.chosen_by import ChosenBy
from oclgenomics.sdtw.decisions.thresholds import Stage, Thresholds
from oclgenomics.sdtw.options import AlignOptions
from oclgenomics.signals import TrimOptions
from oclgenomics.signals.chemistry import PORES

__all__ = ["read_thresholds", "record_checksum", "write_thresholds"]

KIND, VERSION = "sdtw thresholds", 2
CHECKSUM_KEY = b"sdtw  thresholds"
MAX_FILE_BYTES = 1 << 24
NAMES = ("kind", "version", *Thresholds.__dataclass_fields__, "checksum")
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
            tuple(_stage(one) for one in record.objects("stages")),
            _options(record.inner("options")),
            record.get("score", str),
            _names(record, "references"),
            record.get("made", dict),
            None if record.values["basis"] is None else _basis(record.inner("basis")),
        )
    except ParameterError as error:
        raise InputError(str(error), source=name) from None


def _stage(record: Fields) -> Stage:
    record.only(tuple(Stage.__dataclass_fields__))
    lower = record.get("accept_below", float, optional=True)
    return Stage(record.get("prefix", int), record.get("reject_above", float), lower)


def _options(record: Fields) -> AlignOptions:
    record.only(tuple(AlignOptions.__dataclass_fields__))
    given: dict[str, Any] = {}
    for name in record.values:
        optional = AlignOptions.__dataclass_fields__[name].default is None
        given[name] = record.get(name, int if optional else str, optional=optional)
    return AlignOptions(**given)


def _names(record: Fields, name: str) -> tuple[str, ...]:
    names: list[Any] = record.get(name, list)
    if not all(isinstance(one, str) for one in names):
        record.refuse(name, "are not all texts")
    return tuple(names)


def _basis(record: Fields) -> Basis:
    record.only(tuple(Basis.__dataclass_fields__))
    trim: KnownTrim = "unknown" if record.values["trim"] == "unknown" else _trim(record.inner("trim"))
    return Basis(trim, tuple(_facts(one) for one in record.objects("references")), _kind(record.inner("reads")))


def _trim(record: Fields) -> TrimOptions:
    record.only([one.name for one in fields(TrimOptions)])
    return TrimOptions(
        record.get("stall", bool),
        record.get("extra", int),
        record.get("max_trim", int, optional=True),
        record.get("keep", bool),
    )


def _facts(record: Fields) -> ReferenceFacts:
    record.only([one.name for one in fields(ReferenceFacts)])
    if record.get("role", str) not in ("target", "decoy"):
        record.refuse("role", "is neither target nor decoy")
    return ReferenceFacts(**{name: record.get(name, str) for name in record.values})


def _kind(record: Fields) -> ReadKind:
    record.only([one.name for one in fields(ReadKind)])
    pore, molecule = record.get("pore", str), record.get("molecule", str)
    rate = record.get("rate", float, optional=True)
    for name, value, known in (("pore", pore, ("", *PORES)), ("molecule", molecule, ("", "dna", "rna"))):
        if value not in known:
            record.refuse(name, f"is none of {', '.join(known[1:])}")
    if rate is not None and rate <= 0:
        record.refuse("rate", "is not above 0")
    return ReadKind(pore, molecule, rate)
