"""Thresholds of scores by which reads are rejected or accepted, stage by stage, and the files that keep them."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from oclgenomics.commandkit.plain_json import json_text
from oclgenomics.errors import InputError, OutputError, ParameterError, UsageError
from oclgenomics.io.packed_file import open_packed
from oclgenomics.io.strict_json import Fields, load_fields
from oclgenomics.io.text_file import read_text
from oclgenomics.sdtw.decisions.scores import SCORES, Score
from oclgenomics.sdtw.decisions.stages import Stage
from oclgenomics.sdtw.decisions.words import ACCEPT, REJECT, UNDECIDED
from oclgenomics.sdtw.options import AlignOptions, check_prefixes
from oclgenomics.sdtw.reference import SATURATED

__all__ = ["Stage", "Thresholds", "read_thresholds", "write_thresholds"]

KIND, VERSION = "sdtw thresholds", 1
MAX_FILE_BYTES = 1 << 24


@dataclass(frozen=True)
class Thresholds:
    """Stages, and the alignments whose scores they judge.

    Attributes
    ----------
    stages : tuple of Stage
        Of ascending prefixes, one at least.
    options : AlignOptions
    score : {'cost', 'difference'}
        See `oclgenomics.sdtw.decisions.scores.read_scores`.
    references : tuple of str
        Names of the target and the decoys; empty where they are not known. Several targets, of which the best counts,
        are one of all their names, with commas between them.
    made : mapping of str to object
        How the thresholds were found, as plain values; see `oclgenomics.provenance`.

    Raises
    ------
    ParameterError
        Prefixes do not ascend or are shorter than a row, or scores never reach a threshold because they saturate
        below it.
    """

    stages: tuple[Stage, ...]
    options: AlignOptions
    score: Score = "cost"
    references: tuple[str, ...] = ()
    made: Mapping[str, Any] = field(default_factory=dict)

    def __post_init__(self) -> None:
        self.options.rows(check_prefixes(self.prefixes)[0])
        if self.score not in SCORES:
            raise ParameterError("score", f"choose one of {', '.join(SCORES)}", self.score)
        if self.score == "difference" and len(self.references) == 1:
            raise ParameterError("score", "needs a decoy to compare the target with", self.score)
        highest = max(self.stages, key=lambda stage: stage.reject_above)
        if self.options.arithmetic == "uint16" and highest.reject_above >= SATURATED:
            why = f"costs end at {SATURATED:,}; give a lower threshold, or use `arithmetic=int32`"
            raise ParameterError("stages", why, str(highest))

    @property
    def prefixes(self) -> tuple[int, ...]:
        """Samples that a read needs for each stage."""
        return tuple(stage.prefix for stage in self.stages)

    def decide(self, stage: int, scores: NDArray[np.float64]) -> NDArray[np.uint8]:
        """Decide of reads that have come to a stage.

        Parameters
        ----------
        stage : int
            From 0 on.
        scores : ndarray, float64
            Of any shape; NaN where a read is too short.

        Returns
        -------
        ndarray, uint8
            Numbers of `oclgenomics.sdtw.decisions.words`, of the shape of `scores`. At the last stage only reads that
            are too short stay undecided.
        """
        judged = self.stages[stage]
        last = stage == len(self.stages) - 1
        rest = np.uint8(ACCEPT if last else UNDECIDED)
        decisions = np.where(scores > judged.reject_above, np.uint8(REJECT), rest)
        if judged.accept_below is not None:
            decisions[scores < judged.accept_below] = ACCEPT
        decisions[np.isnan(scores)] = UNDECIDED
        return decisions

    def check(self, options: AlignOptions, references: Sequence[str]) -> None:
        """Refuse alignments whose scores mean something else.

        Parameters
        ----------
        options : AlignOptions
        references : sequence of str
            Names of the target and the decoys.

        Raises
        ------
        UsageError
            Other options than those of the thresholds, or other references.
        """
        own, others = asdict(self.options.resolved()), asdict(options.resolved())
        for name, value in own.items():
            if others[name] != value:
                raise UsageError(
                    f"the thresholds were made with `{name}={value}`, which is not `{name}={others[name]}`; "
                    "use the options of the thresholds, or make new ones with `sdtw calibrate`"
                )
        if self.references and tuple(references) != self.references:
            raise UsageError(
                f"the thresholds were made with the references {', '.join(self.references)}, not "
                f"{', '.join(references)}; use these, in this order, or make new thresholds with `sdtw calibrate`"
            )
        if self.score == "difference" and len(references) < 2:
            raise ParameterError("score", "needs a decoy to compare the target with", self.score)


def write_thresholds(path: str | os.PathLike[str], thresholds: Thresholds) -> None:
    """Write thresholds to a JSON file.

    Raises
    ------
    OutputError
        It cannot be written.
    """
    record = {"kind": KIND, "version": VERSION, **asdict(thresholds)}
    record["options"] = asdict(thresholds.options.resolved())
    record["references"] = list(thresholds.references)
    record["made"] = dict(thresholds.made)
    with open_packed(path, "w", OutputError) as stream:
        stream.write(json_text(record, indent=1) + "\n")


def read_thresholds(path: str | os.PathLike[str]) -> Thresholds:
    """Read a file of thresholds.

    Raises
    ------
    InputError
        It cannot be read, or something in it is missing, unknown or no possible value.
    """
    text, name = read_text(path, MAX_FILE_BYTES)
    fields = load_fields(text, name)
    if fields.values.get("kind") != KIND:
        raise InputError("holds no thresholds; give a file of `sdtw evaluate` or `sdtw calibrate`", source=name)
    fields.only(("kind", "version", *Thresholds.__dataclass_fields__))
    if fields.get("version", int) != VERSION:
        fields.refuse("version", f"is {str(fields.values['version'])[:20]}; this program reads version {VERSION}")
    try:
        return Thresholds(
            tuple(_stage(one) for one in fields.objects("stages")),
            _options(fields.inner("options")),
            fields.get("score", str),
            _names(fields, "references"),
            fields.get("made", dict),
        )
    except ParameterError as error:
        raise InputError(str(error), source=name) from None


def _stage(fields: Fields) -> Stage:
    fields.only(tuple(Stage.__dataclass_fields__))
    lower = fields.get("accept_below", float, optional=True)
    return Stage(fields.get("prefix", int), fields.get("reject_above", float), lower)


def _options(fields: Fields) -> AlignOptions:
    fields.only(tuple(AlignOptions.__dataclass_fields__))
    given: dict[str, Any] = {}
    for name in fields.values:
        optional = AlignOptions.__dataclass_fields__[name].default is None
        given[name] = fields.get(name, int if optional else str, optional=optional)
    return AlignOptions(**given)


def _names(fields: Fields, name: str) -> tuple[str, ...]:
    names: list[Any] = fields.get(name, list)
    if not all(isinstance(one, str) for one in names):
        fields.refuse(name, "are not all texts")
    return tuple(names)
