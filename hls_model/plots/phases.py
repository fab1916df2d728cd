"""Where the time of a projection goes: the phases of the pipelines, and what runs beside them."""

from __future__ import annotations

from typing import TYPE_CHECKING

from hls_model.plots.labels import set_titles
from hls_model.plots.style import INK, PHASE_COLOURS, new_figure
from hls_model.project import Projection
from hls_model.timing.result import PHASES

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

__all__ = ["plot_phases"]

VISIBLE = 1e-3  # of the axis, for a place in the legend
BESIDE = {"software": INK, "host link": "#9A9A9A"}


def plot_phases(projections: list[Projection]) -> Figure:
    """Draw the seconds of each design: pipelines by phase, and beneath them software's and the host link's part."""
    times = [_times(one) for one in projections]
    end = max(one.omega_seconds for one in projections) or 1.0
    shown = [name for name in (*PHASES, *BESIDE) if max(time[name] for time in times) > VISIBLE * end]
    beside = [name for name in BESIDE if name in shown]
    figure, (axes,) = new_figure(size=(10, 2.3 + 0.75 * len(projections)))
    for place, (one, time) in enumerate(zip(projections, times, strict=True)):
        _draw_design(axes, place, time, beside)
        axes.annotate(
            f"{one.omega_seconds:.3g} s", (one.omega_seconds, place), (8, 0), textcoords="offset points", va="center",
            fontweight="bold", color=INK,
        )  # fmt: skip
    axes.set_yticks(range(len(projections)), [one.timing.config.name for one in projections])
    axes.set_ylim(len(projections) - 0.4, -0.6)
    axes.tick_params(axis="y", length=0)
    axes.set_xlim(0, end * 1.14)
    axes.set_xlabel("Seconds")
    for name in shown:
        axes.bar(0, 0, color=(PHASE_COLOURS | BESIDE)[name], label=name)
    if shown:
        figure.legend(frameon=False, loc="outside lower center", ncols=len(shown), fontsize=10)
    fastest = min(projections, key=lambda one: one.omega_seconds)
    workload = fastest.timing.workload
    set_titles(
        axes,
        f"{fastest.timing.config.name}: {fastest.timing.rate / 1e6:,.0f} million omegas a second",
        f"{workload.name}, {len(workload.left):,} positions, {workload.omegas:,} omegas",
    )
    return figure


def _times(one: Projection) -> dict[str, float]:
    """Seconds by phase and by what runs beside the pipelines."""
    timing = one.timing
    hertz = timing.config.clock_mhz * 1e6
    phases = {name: int(cycles.sum()) / hertz for name, cycles in timing.phases.items()}
    return phases | {"software": timing.software_seconds, "host link": timing.transfer_seconds}


def _draw_design(axes: Axes, place: int, time: dict[str, float], beside: list[str]) -> None:
    """A bar of phases, and a thinner one beneath it for each thing that runs beside."""
    height, thin = 0.4, 0.13
    top = place - (height + thin * len(beside)) / 2
    start = 0.0
    for phase in PHASES:
        axes.barh(top + height / 2, time[phase], height, left=start, color=PHASE_COLOURS[phase])
        start += time[phase]
    for number, name in enumerate(beside):
        axes.barh(top + height + thin * (number + 0.5), time[name], thin * 0.85, color=BESIDE[name])
