"""What the table `[mapper_settings."oclgenomics.sdtw.live.readfish"]` of readfish's configuration stands for."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, fields
from typing import Any

from oclgenomics.errors import UsageError
from oclgenomics.sdtw.api import checked_trim, open_targets
from oclgenomics.sdtw.decisions.basis import Trim
from oclgenomics.sdtw.decisions.stages import parse_stages
from oclgenomics.sdtw.decisions.thresholds import Thresholds
from oclgenomics.sdtw.decisions.thresholds_file import read_thresholds
from oclgenomics.sdtw.live.options import LiveOptions
from oclgenomics.sdtw.options import AlignOptions
from oclgenomics.sdtw.squiggles.squiggle import Squiggle
from oclgenomics.signals.trimming import TrimOptions

__all__ = ["Settings", "read_settings"]

LIVE = ("max_latency", "max_batch", "deadline", "select", "max_missed", "max_samples", "max_failures")
ALIGN = tuple(field.name for field in fields(AlignOptions))
OTHERS = ("reference", "decoy", "thresholds", "stages", "score", "trim", "device", "max_memory")
TABLE = "mapper_settings"


@dataclass(frozen=True)
class Settings:
    """What the keys of the table stand for.

    Attributes
    ----------
    targets, decoys : tuple of Squiggle
    thresholds : Thresholds
    live : LiveOptions
    device : str or None
    max_memory : int or None
    """

    targets: tuple[Squiggle, ...]
    decoys: tuple[Squiggle, ...]
    thresholds: Thresholds
    live: LiveOptions
    device: str | None
    max_memory: int | None


def read_settings(table: Mapping[str, Any]) -> Settings:
    """Read the settings of a selection.

    Parameters
    ----------
    table : mapping of str to object
        `reference` and `decoy` (a file, or a list of them), `thresholds` (a file) or `stages` (such as
        "1000:2800,2000:5600") with `score` and fields of `AlignOptions`, `trim` ("stall", "none" or samples), `device`,
        `max_memory`, and some fields of `LiveOptions`.

    Raises
    ------
    UsageError
        A key is missing, unknown, or has a value that it cannot have.
    InputError
        A file cannot be read.
    """
    unknown = sorted(table.keys() - {*LIVE, *ALIGN, *OTHERS})
    if unknown:
        raise UsageError(
            f"{TABLE}: there is no key {unknown[0]}; there are {', '.join(sorted((*OTHERS, *LIVE, *ALIGN)))}"
        )
    if "reference" not in table:
        raise UsageError(f"{TABLE}: name the target with `reference`, a file of `sdtw index`")
    targets, decoys = open_targets(_files(table, "reference"), _files(table, "decoy"))
    thresholds = _thresholds(table)
    given: Trim = _trim(table["trim"]) if "trim" in table else "thresholds"
    trim = checked_trim(thresholds, targets, decoys, given)
    live = LiveOptions(trim=trim, **{name: table[name] for name in LIVE if name in table})
    return Settings(targets, decoys, thresholds, live, table.get("device"), table.get("max_memory"))


def _files(table: Mapping[str, Any], name: str) -> list[str]:
    given = table.get(name, [])
    files = [given] if isinstance(given, str) else given
    if not isinstance(files, list) or not all(isinstance(file, str) for file in files):
        raise UsageError(f"{TABLE}: {name} is a file or a list of files")
    return files


def _thresholds(table: Mapping[str, Any]) -> Thresholds:
    if ("thresholds" in table) == ("stages" in table):
        raise UsageError(f"{TABLE}: give either thresholds, a file of `sdtw calibrate`, or stages")
    own = [name for name in ("score", *ALIGN) if name in table]
    if "thresholds" in table:
        if own:
            raise UsageError(f"{TABLE}: thresholds have a {own[0]} of their own; leave it out")
        return read_thresholds(table["thresholds"])
    options = AlignOptions(**{name: table[name] for name in ALIGN if name in table})
    return Thresholds(parse_stages(str(table["stages"])), options, table.get("score", "cost"))


def _trim(value: Any) -> TrimOptions | None:
    if value in ("stall", "none"):
        return TrimOptions() if value == "stall" else None
    if isinstance(value, bool) or not isinstance(value, int):
        raise UsageError(f'{TABLE}: trim is "stall", "none" or a number of samples')
    return TrimOptions(stall=False, extra=value)
