"""How a scan read and filtered its input, from its report: a map of the same sites has to do the same."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from oclgenomics.errors import InputError, ParameterError
from oclgenomics.omega.formats.reading import OmegaReport
from oclgenomics.omega.options import MISSING_NAMES

__all__ = ["RECORDED", "as_scanned"]

RECORDED = (
    "length", "input_format", "phase", "samples", "exclude", "maf", "no_singletons", "binary", "impute", "seed",
)  # fmt: skip
KINDS: dict[str, tuple[type, ...]] = {
    "length": (int,), "seed": (int,), "maf": (int, float), "no_singletons": (bool,), "binary": (bool,),
    "impute": (list,),
}  # fmt: skip
FREE_IF_NONE = ("length", "input_format", "seed")  # one may be given where the report records none
FILES = ("samples", "exclude")  # they may have moved since
WORDS = {"None": None, "True": True, "False": False}
DEFAULTS: dict[str, Any] = {"phase": "auto", "maf": 0.0, "no_singletons": False, "binary": False, "impute": []}


def as_scanned(report: OmegaReport | None, given: Mapping[str, Any]) -> dict[str, Any]:
    """Return the parameters of a scan that say which sites it used.

    Parameters
    ----------
    report : OmegaReport, optional
        Of the scan; without one all is as given, or by default.
    given : mapping of str to object
        Those of `RECORDED` that are given again; None is not given. `impute` is a list.

    Returns
    -------
    dict of str to object
        All of `RECORDED`.

    Raises
    ------
    ParameterError
        What is given is not what the report records.
    InputError
        The report records something that is no value of the parameter.
    """
    recorded = {} if report is None else report.parameters
    found = {}
    for name in RECORDED:
        value = given.get(name)
        if report is not None and name in recorded:
            value = _agreed(name, value, _value(name, recorded[name], report.source), report.source)
        found[name] = DEFAULTS.get(name) if value is None else value
    return found


def _agreed(name: str, given: Any, known: Any, report: str) -> Any:
    """The value of a parameter that a report records; the same, if it is given again."""
    if given is None or (known is None and name in FREE_IF_NONE):
        return known if given is None else given
    if name in FILES and known is not None:
        return given
    same = _states(given) == _states(known) if name == "impute" else given == known
    if not same:
        theirs = f"without `{name}`" if not known else f"with `{name}={_text(known)}`"
        raise ParameterError(name, f"the scan of {report} was made {theirs}; leave the option out", _text(given))
    return given


def _states(words: list[str]) -> set[str]:
    return {MISSING_NAMES.get(word.upper(), word) for word in words}


def _text(value: Any) -> Any:
    return ",".join(value) if isinstance(value, list) else value


def _value(name: str, recorded: Any, report: str) -> Any:
    """A recorded parameter as an option has it; a tsv report holds words.

    Raises
    ------
    InputError
        The report has something else there.
    """
    value, kinds = recorded, KINDS.get(name, (str,))
    if isinstance(value, str) and name == "impute":
        value = value.split()
    elif isinstance(value, str) and value in WORDS:
        value = WORDS[value]
    elif isinstance(value, str) and kinds != (str,):
        value = _number(value)
    listed = value if isinstance(value, list) else []
    if value is not None and (type(value) not in kinds or not all(isinstance(word, str) for word in listed)):
        raise InputError(f"{str(recorded)[:40]!r} is no {name} of a scan", source=report)
    return value


def _number(text: str) -> float | str:
    """A number, whole if it is written so; the text itself if it is none."""
    for kind in (int, float):
        try:
            return kind(text)
        except ValueError:
            continue
    return text
