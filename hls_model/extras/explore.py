"""Many designs on one workload: which fit the board, and which of those nothing beats in both rate and resources."""

from __future__ import annotations

import dataclasses
import itertools
from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from hls_model.choices import Level
from hls_model.config import Config, Memory
from hls_model.errors import ModelError
from hls_model.limits import check_possible
from hls_model.ranges import Range
from hls_model.resources import Resources, check_fits, estimate
from hls_model.roofline import Roofline, roofline_of
from hls_model.timing import Timing
from hls_model.uncertainty import Band, built_band, built_timing
from hls_model.workload import Workload

SLACK = 1e-3  # a rate that is higher by less is no reason to spend resources


@dataclass(frozen=True)
class Space:
    """The designs to try: every combination; an empty sequence keeps the design's own value.

    Attributes
    ----------
    unroll : sequence of int
    clock_mhz : sequence of float
    ports : sequence of int
        Memory ports of a kernel, each on a bank of its own as far as the board has banks.
    overlap_outer : sequence of bool
    kernels : sequence of int
    """

    unroll: Sequence[int] = ()
    clock_mhz: Sequence[float] = ()
    ports: Sequence[int] = ()
    overlap_outer: Sequence[bool] = ()
    kernels: Sequence[int] = ()


@dataclass(frozen=True)
class Design:
    """A design that fits, what it takes and what it does.

    Attributes
    ----------
    resources : Resources
    timing : Timing
    on_front : bool
        No other design has a higher rate at the same cost or less, or a lower cost at the same rate (to 0.1 %) or more.
    band : Band or None
        The timing at both ends of what is not known, for designs on the front where that is asked for.
    """

    resources: Resources
    timing: Timing
    on_front: bool
    band: Band | None = None

    @property
    def config(self) -> Config:
        """The design's parameters."""
        return self.timing.config

    @property
    def rate(self) -> float:
        """Scores of the pipelines per second of the whole scan; those that software computes do not count.

        So no rate exceeds the design's own roofs, and a remainder that software is slow with costs rate.
        """
        return _rate(self.timing)

    @property
    def roofline(self) -> Roofline:
        """What lanes, ports, banks and host link of the design allow at most."""
        return roofline_of(self.timing)

    @property
    def rate_range(self) -> Range:
        """The same with its bounds; exact where there is no band."""
        if self.band is None:
            return Range.exactly(self.rate)
        return Range(*map(_rate, (self.band.high, self.band.likely, self.band.low)))

    @property
    def cost(self) -> float:
        """Largest share of any of the device's resources."""
        return self.resources.largest_share


@dataclass(frozen=True)
class Exploration:
    """The result of trying a space of designs.

    Attributes
    ----------
    designs : list of Design
        Those that fit, the fastest first.
    too_large : int
        Designs dropped because the device holds too little.
    impossible : int
        Combinations that are no design, such as more lanes than a buffer has words.
    """

    designs: list[Design]
    too_large: int
    impossible: int

    @property
    def front(self) -> list[Design]:
        """Designs that nothing beats, the fastest first."""
        return [design for design in self.designs if design.on_front]


def explore(
    workload: Workload,
    config: Config,
    space: Space,
    *,
    level: Level = "L1",
    progress: Callable[[int, int], None] | None = None,
    uncertainty: bool = False,
) -> Exploration:
    """Time every design of a space on a workload.

    Parameters
    ----------
    workload : Workload
    config : Config
        What all designs have in common.
    space : Space
    level : {'L1', 'L2'}
    progress : callable, optional
        Called with (designs done, designs in all).
    uncertainty : bool
        Also time the designs on the front at both ends of what is not known; the front is that of the likely rates.

    Raises
    ------
    ModelError
        No combination is a design that fits the board.
    """
    wanted, possible = _designs(config, space)
    fitting = [resources for resources in map(estimate, possible) if not resources.short]
    if not fitting:
        raise ModelError(_too_large(possible))
    timings = []
    for done, resources in enumerate(fitting):
        timings.append(built_timing(workload, resources.config, level))
        if progress is not None:
            progress(done + 1, len(fitting))
    rates = np.array([_rate(timing) for timing in timings])
    front = pareto_front(rates, np.array([resources.largest_share for resources in fitting]), SLACK)
    designs = [
        Design(*found, built_band(workload, found[0].config, level) if uncertainty and found[2] else None)
        for found in zip(fitting, timings, front.tolist(), strict=True)
    ]
    designs.sort(key=lambda design: (-design.rate, design.cost))
    return Exploration(designs, len(possible) - len(fitting), wanted - len(possible))


def _too_large(possible: Sequence[Config]) -> str:
    """Why no design fits, said of the smallest of them; its ports and kernels are named, as they decide what would."""
    smallest = min(possible, key=lambda design: (design.kernels * design.lanes, design.kernels * design.memory.ports))
    try:
        check_fits(smallest)
    except ModelError as error:
        return f"with memory.ports={smallest.memory.ports} and kernels={smallest.kernels}, {error}"
    raise AssertionError("a design that is too large fits")


def _rate(timing: Timing) -> float:
    return timing.hardware_omegas / timing.seconds if timing.seconds else 0.0


def pareto_front(rate: NDArray[np.float64], cost: NDArray[np.float64], slack: float = 0.0) -> NDArray[np.bool_]:
    """Return which designs no other dominates, bool (designs,).

    One dominates another if its rate is no lower and its cost no higher, and one of them is better. Equal designs do
    not dominate each other. With `slack`, a design is also left out if it is not faster than a cheaper one of the front
    by more than that share.
    """
    on_front = np.zeros(len(rate), bool)
    best = last_cost = -np.inf
    for index in np.lexsort((-rate, cost)):
        faster = rate[index] > best + slack * abs(best) if np.isfinite(best) else True
        equal = rate[index] == best and cost[index] == last_cost
        if faster or equal:
            on_front[index] = True
            best, last_cost = rate[index], cost[index]
    return on_front


def _designs(config: Config, space: Space) -> tuple[int, list[Config]]:
    """How many combinations there are, and those that are designs."""
    combinations = itertools.product(
        dict.fromkeys(space.unroll or [config.unroll]),
        dict.fromkeys(space.clock_mhz or [config.clock_mhz]),
        dict.fromkeys(space.ports or [config.memory.ports]),
        dict.fromkeys(space.overlap_outer or [config.overlap_outer]),
        dict.fromkeys(space.kernels or [config.kernels]),
    )
    designs, refusals = [], []
    for changes in combinations:
        try:
            changed = _changed(config, *changes)
            check_possible(changed)
            designs.append(changed)
        except ModelError as error:
            refusals.append(error)
    if not designs:
        raise refusals[0]
    return len(designs) + len(refusals), designs


def _changed(config: Config, unroll: int, clock_mhz: float, ports: int, overlap: bool, kernels: int) -> Config:
    memory = config.memory
    same = ports * kernels == memory.ports * config.kernels
    banks = memory.banks if same else min(max(ports * kernels, 1), config.hardware.banks)
    changed: Memory = dataclasses.replace(memory, ports=ports, banks=banks)
    lanes = config.physical_lanes if unroll == config.unroll else 0
    return config.but(
        unroll=unroll, physical_lanes=lanes, clock_mhz=clock_mhz, memory=changed, overlap_outer=overlap, kernels=kernels
    )
