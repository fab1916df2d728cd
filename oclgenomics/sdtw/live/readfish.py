"""A plugin for readfish (2024.3): reads are mapped by their raw signal, without a basecaller.

readfish loads `Caller` and `Aligner` of the module that its configuration names:

    [caller_settings."oclgenomics.sdtw.live.readfish"]

    [mapper_settings."oclgenomics.sdtw.live.readfish"]
    reference = "lambda.sdtw"
    thresholds = "lambda.json"

The caller hands the signal on. The aligner gives each read that is accepted an alignment, where the read ends so far,
which readfish looks up among the targets of the condition (`single_on`, `single_off`); and one more on each other
reference that would have accepted it by itself (`multi_on`, `multi_off`). A read that is rejected has an alignment to
no sequence (`single_off`). Reads without a decision, malformed ones, and all that the device is late for, have neither
a sequence nor an alignment (`no_seq`).

Conditions may be by barcode: `barcodes` names a reference with a sequence for each; see `Barcodes`.
"""

from __future__ import annotations

import importlib
import logging
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, fields
from typing import IO, Any

import numpy as np
from numpy.typing import NDArray

from oclgenomics.errors import MissingDependencyError, OutputError, UsageError
from oclgenomics.sdtw.decisions.basis import Trim
from oclgenomics.sdtw.decisions.thresholds import ACCEPT, REJECT, Thresholds, checked_trim, parse_stages
from oclgenomics.sdtw.formats.thresholds import read_thresholds
from oclgenomics.sdtw.live.barcodes import CLASSIFIED, UNCLASSIFIED, Barcodes
from oclgenomics.sdtw.live.channels import signal_type
from oclgenomics.sdtw.live.judging import Criteria, Decided
from oclgenomics.sdtw.live.metrics import DebugLog
from oclgenomics.sdtw.live.options import LiveOptions
from oclgenomics.sdtw.live.selector import Selector
from oclgenomics.sdtw.live.workers import RealClock, ThreadWorker, own_aligner
from oclgenomics.sdtw.options import AlignOptions
from oclgenomics.sdtw.squiggles.opened import open_references, open_targets
from oclgenomics.sdtw.squiggles.squiggle import Squiggle
from oclgenomics.signals.trimming import TrimOptions

LIVE = ("max_latency", "max_batch", "deadline", "select", "max_missed", "max_samples", "max_failures")
ALIGN = tuple(field.name for field in fields(AlignOptions))
OTHERS = ("reference", "decoy", "thresholds", "stages", "score", "trim", "device", "max_memory", "barcodes")
TABLE = "mapper_settings"
NO_SEQUENCE = "*"


class Caller:
    """Hands signals on. Takes what readfish gives a caller; the table in its configuration is empty.

    Raises
    ------
    MissingDependencyError
        readfish is not installed.
    UsageError
        The table is not empty.
    """

    def __init__(
        self, run_information: Any = None, sample_rate: Any = None, debug_log: str | None = None, **settings: Any
    ) -> None:
        self._settings = settings
        self._result = _results()
        self.validate()

    def validate(self) -> None:
        """Refuse settings, of which there are none."""
        if self._settings:
            raise UsageError(f"caller_settings: there is no key {min(self._settings)}; signals are not called")

    def basecall(
        self, reads: Iterable[tuple[int, Any]], signal_dtype: Any, daq_values: Mapping[int, Any] | None = None
    ) -> Iterator[Any]:
        """Yield a `Result` without a sequence for each chunk."""
        for channel, chunk in reads:
            calibration = None if daq_values is None else daq_values.get(channel)
            raw = Raw(chunk, signal_dtype, calibration)
            yield self._result(channel=channel, read_id=chunk.id, seq="", basecall_data=raw)

    def describe(self) -> str:
        """Say what this is."""
        return "Signals are mapped as they are, without a basecaller (oclgenomics)."

    def disconnect(self) -> None:
        """There is nothing to end."""


class Aligner:
    """Maps signals, and starts the device at once.

    Parameters
    ----------
    debug_log : str, optional
        File for a line for each decision.
    **settings
        See `read_settings`.

    Raises
    ------
    UsageError, InputError
        See `read_settings`.
    DeviceError
        There is no such device, or its memory is too small.
    OutputError
        The log cannot be written.
    """

    def __init__(self, debug_log: str | None = None, **settings: Any) -> None:
        self._table, self._logger = settings, logging.getLogger("readfish.oclgenomics")
        self.validate()
        found, clock = self._settings, RealClock()
        self._references = found.targets + found.decoys
        make = own_aligner(self._references, found.thresholds.options, found.device, found.max_memory)
        self._worker = ThreadWorker(make, Criteria(found.thresholds, len(found.targets)), clock)
        self._selector = Selector(
            found.thresholds, len(self._references), self._worker, clock, found.live, self._logger.warning
        )
        self._known: dict[int, tuple[str, list[Place], str]] = {}
        self._barcoded = found.barcodes is not None
        self._clock, self._log = clock, None if debug_log is None else _open_log(debug_log)
        self._debug = None if self._log is None else DebugLog(self._log, found.thresholds.prefixes)
        self._worker.start()
        self.initialised = True

    def validate(self) -> None:
        """Read the settings; see `read_settings` for what is refused."""
        self._settings = read_settings(self._table)

    def describe(self, regions: Sequence[Any], barcodes: Mapping[str, Any]) -> str:
        """Say what is looked for.

        Raises
        ------
        UsageError
            A region has no targets, or some that no reference holds: none of its reads could be accepted. Or a barcode
            is not among those of `barcodes`: no read could have it.
        """
        self._barcoded |= bool(barcodes)
        known = () if self._settings.barcodes is None else self._settings.barcodes.names
        for name in barcodes:
            if name not in (CLASSIFIED, UNCLASSIFIED, *known):
                there = f"name some of: {', '.join(known[:10])}" if known else "name their reference with `barcodes`"
                raise UsageError(f"barcode {name} is not known; {there}")
        names = [name for target in self._settings.targets for name in target.records]
        for region in [*regions, *barcodes.values()]:
            wanted = {interval.chromosome for interval in region.targets.iter_targets()}
            strange = sorted(wanted - set(names))
            if strange or (not wanted and not region.control):
                what = f"target {strange[0]}, which the reference lacks" if strange else "no targets"
                raise UsageError(f"region {region.name} has {what}; name some of: {', '.join(names[:10])}")
        stages = ", ".join(map(str, self._settings.thresholds.stages))
        files = ", ".join(target.name for target in self._settings.targets)
        decoys = ", ".join(decoy.name for decoy in self._settings.decoys) or "none"
        return f"Signals are aligned with {files} (decoys: {decoys}; stages {stages}) by oclgenomics."

    def map_reads(self, basecall_results: Iterable[Any]) -> Iterator[Any]:
        """Yield the results of the caller with `alignment_data`; see the top of this module."""
        results = list(basecall_results)
        if results:
            self._decide(results)
        for result in results:
            read, places, barcode = self._known.get(result.channel, ("", [], UNCLASSIFIED))
            here = read == result.read_id
            result.alignment_data = list(places) if here else []
            if self._barcoded:  # readfish needs one wherever conditions are by barcode
                result.barcode = barcode if here else UNCLASSIFIED
            yield result

    def _decide(self, results: list[Any]) -> None:
        """Take chunks, and keep what is decided: readfish may ask again."""
        raws = [result.basecall_data for result in results]
        calibration = {result.channel: raw.calibration for result, raw in zip(results, raws, strict=True)}
        chunks = [(result.channel, raw.chunk) for result, raw in zip(results, raws, strict=True)]
        decided = self._selector.update(chunks, signal_type(raws[0]), calibration)
        now = self._clock.now()
        self._selector.metrics.add_decided(decided, now)
        if self._debug is not None:
            self._debug.add(decided, [""] * len(decided), [""] * len(decided), now)
        barcodes = self._barcodes(decided, {result.channel: result for result in results})
        for number, (channel, read) in enumerate(zip(decided.channel.tolist(), decided.read.tolist(), strict=True)):
            self._known[channel] = read, self._places(decided, number), barcodes[number]

    def _barcodes(self, decided: Decided, results: Mapping[int, Any]) -> list[str]:
        """The barcode of each read, from its whole signal so far; a late verdict may come without a chunk of it."""
        found = [UNCLASSIFIED] * len(decided)
        if self._settings.barcodes is None:
            return found
        there: dict[int, Any] = {}
        for number, (channel, read) in enumerate(zip(decided.channel.tolist(), decided.read.tolist(), strict=True)):
            result = results.get(channel)
            if result is not None and result.read_id == read and (samples := result.basecall_data.whole()) is not None:
                there[number] = samples
        for number, name in zip(there, self._settings.barcodes.of(list(there.values())), strict=True):
            found[number] = name
        return found

    def _places(self, decided: Decided, number: int) -> list[Place]:
        """The alignments that mean a decision to readfish."""
        if decided.outcome[number] == REJECT:
            return [Place(NO_SEQUENCE, 1, 0, 0)]
        if decided.outcome[number] != ACCEPT:
            return []
        count, thresholds = len(self._settings.targets), self._settings.thresholds
        cost = decided.cost[number]
        alone = np.column_stack([cost[:count], np.tile(cost[count:], (count, 1))])  # a target each, and all decoys
        decisions = thresholds.decide(int(decided.stage[number]), thresholds.scores(alone, 1))
        best = int(cost[:count].argmin())
        others = np.flatnonzero(
            (decisions != REJECT) & (np.arange(count) != best) & (decided.column[number, :count] >= 0)
        )
        return [self._place(decided, number, which) for which in (best, *others.tolist())]

    def _place(self, decided: Decided, number: int, which: int) -> Place:
        """Where a read ends on a target."""
        target = self._references[which]
        where = target.places(decided.column[number, which : which + 1])
        position = int(where.position[0])
        strand = -1 if where.strand[0] else 1
        return Place(target.records[int(where.record[0])], strand, position, position + target.k)

    def disconnect(self) -> None:
        """Release the device, and say how it went."""
        self._logger.info(self._selector.metrics.line())
        self._worker.close()
        if self._log is not None:
            self._log.close()


@dataclass(frozen=True)
class Raw:
    """What the caller hands on of a read: a chunk, and how to read it."""

    chunk: Any
    signal_dtype: Any
    calibration: Any

    def whole(self) -> NDArray[Any] | None:
        """The samples of the read so far; None where the chunk does not begin with the read, or is malformed."""
        try:
            samples = np.frombuffer(self.chunk.raw_data, self.signal_dtype)
            return samples if self.chunk.start_sample == self.chunk.chunk_start_sample else None
        except (AttributeError, BufferError, TypeError, ValueError):
            return None


@dataclass(frozen=True)
class Place:
    """An alignment as readfish looks at it: its sequence, its strand (1 or -1), and its ends on the sequence."""

    ctg: str
    strand: int
    r_st: int
    r_en: int


def _results() -> Any:
    """readfish's class of results."""
    try:
        return importlib.import_module("readfish.plugins.utils").Result
    except ImportError:
        raise MissingDependencyError(
            "readfish is not installed; this is a plugin of it (pip install readfish)"
        ) from None


def _open_log(path: str) -> IO[str]:
    """A log that can be followed while it is written, and is there whatever ends the run."""
    try:
        return open(path, "w", encoding="utf-8", buffering=1)
    except OSError as error:
        raise OutputError(f"{path}: cannot be written ({error.strerror or error})") from error


@dataclass(frozen=True)
class Settings:
    """What the keys of the table ask for.

    Attributes
    ----------
    targets, decoys : tuple of Squiggle
    thresholds : Thresholds
    live : LiveOptions
    device : str or None
    max_memory : int or None
    barcodes : Barcodes or None
    """

    targets: tuple[Squiggle, ...]
    decoys: tuple[Squiggle, ...]
    thresholds: Thresholds
    live: LiveOptions
    device: str | None
    max_memory: int | None
    barcodes: Barcodes | None


def read_settings(table: Mapping[str, Any]) -> Settings:
    """Read the settings of a selection.

    Parameters
    ----------
    table : mapping of str to object
        `reference` and `decoy` (a file, or a list of them), `thresholds` (a file) or `stages` (such as
        "1000:2800,2000:5600") with `score` and fields of `AlignOptions`, `trim` ("stall", "none" or samples), `device`,
        `max_memory`, `barcodes` (a file of `sdtw index`, see `Barcodes`) and some fields of `LiveOptions`.

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
    thresholds = thresholds.for_references((*targets, *decoys))
    barcodes = [Barcodes(one) for file in _files(table, "barcodes") for one in open_references(file, "barcodes")]
    if len(barcodes) > 1:
        raise UsageError(f"{TABLE}: barcodes is one file, with a sequence for each barcode")
    found = barcodes[0] if barcodes else None
    return Settings(targets, decoys, thresholds, live, table.get("device"), table.get("max_memory"), found)


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
