"""Synthesis reports (`*_csynth.xml`, `csynth.xml`) of Vivado HLS and Vitis HLS.

The structure is that of reports of 2018.3, 2019.1, 2020.2, 2022.1 and 2022.2. DSP slices are <DSP48E> in those up to
2019.1 and <DSP> later; a loop may lie within its outer one; newer tools also list the loops of each module under
<ModuleInformation>.
"""

from __future__ import annotations

import math
import os
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from xml.etree.ElementTree import Element

from hls_model.boards import KINDS
from hls_model.errors import ModelInputError
from hls_model.hls.reports.xml_file import Whole, child, parse_xml, range_of, text_of

__all__ = ["ReportedLoop", "Synthesis", "read_csynth"]

TAGS: Mapping[str, tuple[str, ...]] = {
    "bram18k": ("BRAM_18K",),
    "dsp": ("DSP", "DSP48E", "DSP48", "DSP58"),
    "ff": ("FF",),
    "lut": ("LUT",),
    "uram": ("URAM",),
}
NOT_LOOPS = {
    "Name", "Slack", "TripCount", "Latency", "AbsoluteTimeLatency", "IterationLatency", "PipelineII", "PipelineDepth",
    "PipelineType", "InstanceList", "Violation", "IssueType", "range",
}  # fmt: skip


@dataclass(frozen=True)
class ReportedLoop:
    """A loop of a synthesis report; None stands for what it does not know.

    Attributes
    ----------
    name : str
        Its label, after those of the loops around it and a slash.
    module : str
        The function that holds it.
    trips, latency, iteration_latency : pair of int, or None
        Iterations; cycles of all and of one.
    interval, depth : pair of int, or None
        Initiation interval and depth of a pipelined loop.
    """

    name: str
    module: str
    trips: Whole | None
    latency: Whole | None
    iteration_latency: Whole | None
    interval: Whole | None
    depth: Whole | None

    @property
    def label(self) -> str:
        """The name without those of the loops around it."""
        return self.name.rpartition("/")[2]


@dataclass(frozen=True)
class Synthesis:
    """A synthesis report.

    Attributes
    ----------
    path, version, top, part : str
        The file; the tool's version; the function; the device.
    target_ns, uncertainty_ns, estimated_ns : float
        Clock period asked for, the share of it that is kept free, and the estimate; NaN where it is not given.
    best, average, worst : int or None
        Latency of the function in cycles.
    interval : pair of int, or None
        Cycles between two starts of the function.
    loops : tuple of ReportedLoop
        All loops, outer ones first.
    used, available : dict of str to int
        By kind of `hls_model.boards.KINDS`, and `uram` where there is one.
    """

    path: str
    version: str
    top: str
    part: str
    target_ns: float
    uncertainty_ns: float
    estimated_ns: float
    best: int | None
    average: int | None
    worst: int | None
    interval: Whole | None
    loops: tuple[ReportedLoop, ...]
    used: Mapping[str, int]
    available: Mapping[str, int]


def read_csynth(path: str | os.PathLike[str], text: str | None = None) -> Synthesis:
    """Read a synthesis report.

    Parameters
    ----------
    path : path
        The file.
    text : str, optional
        Its text, where it has been read.

    Raises
    ------
    ModelInputError
        Not such a report, or one whose numbers are none; names the file and the element.
    """
    name = os.fspath(path)
    root = parse_xml(path, text)
    if root.tag != "profile":
        raise ModelInputError(f"{name}: begins with <{root.tag[:40]}>; a synthesis report begins with <profile>")
    asked, performance = child(root, "UserAssignments", name), child(root, "PerformanceEstimates", name)
    overall, area = child(performance, "SummaryOfOverallLatency", name), child(root, "AreaEstimates", name)
    top = text_of(child(asked, "TopModelName", name))
    return Synthesis(
        path=name,
        version=text_of(root.find("ReportVersion/Version")),
        top=top,
        part=text_of(asked.find("Part")),
        target_ns=_number(child(asked, "TargetClockPeriod", name), name),
        uncertainty_ns=_number(asked.find("ClockUncertainty"), name),
        estimated_ns=_number(child(performance, "SummaryOfTimingAnalysis/EstimatedClockPeriod", name), name),
        best=_least(overall, "Best-caseLatency", name),
        average=_least(overall, "Average-caseLatency", name),
        worst=_least(overall, "Worst-caseLatency", name),
        interval=_between(overall, name),
        loops=tuple(_all_loops(root, performance, top, name)),
        used=_amounts(child(area, "Resources", name), name, KINDS),
        available=_amounts(child(area, "AvailableResources", name), name, KINDS),
    )


def _number(element: Element | None, name: str) -> float:
    text = text_of(element)
    if element is None or not text:
        return math.nan
    try:
        value = float(text)
    except ValueError:
        value = math.nan
    if not 0 <= value < 1e9:
        raise ModelInputError(f"{name}: <{element.tag}> is {text[:40]!r}, which is no time in ns")
    return value


def _least(parent: Element, tag: str, name: str) -> int | None:
    found = range_of(parent.find(tag), name)
    return None if found is None else found[0]


def _between(parent: Element, name: str) -> Whole | None:
    least, most = _least(parent, "Interval-min", name), _least(parent, "Interval-max", name)
    return None if least is None or most is None else (least, most)


def _all_loops(root: Element, performance: Element, top: str, name: str) -> Iterator[ReportedLoop]:
    """Loops of the function, and of the modules; a loop that is listed twice is given once."""
    seen = set()
    places = [(top, performance)]
    places += [
        (text_of(module.find("Name")), found)
        for module in root.iterfind("ModuleInformation/Module")
        if (found := module.find("PerformanceEstimates")) is not None
    ]
    for module, place in places:
        summary = place.find("SummaryOfLoopLatency")
        for loop in () if summary is None else _loops(summary, module, "", name):
            if (loop.module, loop.name) not in seen:
                seen.add((loop.module, loop.name))
                yield loop


def _loops(parent: Element, module: str, around: str, name: str) -> Iterator[ReportedLoop]:
    for element in parent:
        if element.tag in NOT_LOOPS or (element.find("TripCount") is None and element.find("Latency") is None):
            continue
        label = around + (text_of(element.find("Name")) or element.tag)
        yield ReportedLoop(
            label,
            module,
            trips=range_of(element.find("TripCount"), name),
            latency=range_of(element.find("Latency"), name),
            iteration_latency=range_of(element.find("IterationLatency"), name),
            interval=range_of(element.find("PipelineII"), name),
            depth=range_of(element.find("PipelineDepth"), name),
        )
        yield from _loops(element, module, label + "/", name)


def _amounts(parent: Element, name: str, needed: tuple[str, ...]) -> dict[str, int]:
    found: dict[str, int] = {}
    for kind, tags in TAGS.items():
        element = next((one for tag in tags if (one := parent.find(tag)) is not None), None)
        count = range_of(element, name)
        if count is not None:
            found[kind] = count[0]
        elif kind in needed:
            raise ModelInputError(f"{name}: <{parent.tag}> has no <{tags[0]}>, or no number in it")
    return found
