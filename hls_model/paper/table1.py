"""Table I recomputed: resources by both methods and the printed ones, and where the table contradicts itself."""

from __future__ import annotations

from dataclasses import dataclass

from hls_model.boards import KINDS, Amount, find_board
from hls_model.paper.published import TABLE1, Compared, Kind, System
from hls_model.presets import PRESETS
from hls_model.resources import Resources, estimate
from hls_model.resources.parts import BRAM_WORDS
from hls_model.text import percent


@dataclass(frozen=True)
class Column:
    """One board of Table I.

    Attributes
    ----------
    system : System
        What is published.
    percent : dict of str to float
        The published amounts as a share of what the board has, in percent.
    estimates : tuple of Resources
        By each method, and bottom-up for 16 lanes where that is another reading.
    """

    system: System
    percent: dict[str, float]
    estimates: tuple[Resources, ...]

    def compared(self) -> dict[str, dict[str, Compared]]:
        """Return the published percentages and each estimate against Table I, by row and kind of resource."""
        board, used = self.system.board, self.system.used
        rows = {
            "percent": {
                kind: Compared(f"{board}, {kind}, percent of the device", self.percent[kind], self.system.percent[kind],
                               "restated", "published amounts over the data sheet's")
                for kind in KINDS
            }
        }  # fmt: skip
        for one in self.estimates:
            name, (mark, why) = estimate_name(one), _kind(one)
            rows[name] = {
                kind: Compared(f"{board}, {kind}, {name}", getattr(one.total, kind), getattr(used, kind), mark, why)
                for kind in KINDS
            }
        return rows


def estimate_name(resources: Resources) -> str:
    """Return what tables call an estimate."""
    lanes = f", {resources.config.lanes} lanes" if resources.method == "bottom-up" else ""
    return resources.method + lanes


def _kind(resources: Resources) -> tuple[Kind, str]:
    if resources.method == "paper-calibrated":
        return "calibrated", "the straight line through the two designs of Table I"
    if resources.config.physical_lanes:
        return "calibrated", "the number of lanes was chosen to match"
    return "predicted", "costs of operators from others' HLS reports; no number of Table I was used"


def reproduce() -> list[Column]:
    """Return both boards of Table I and what the model gives for them."""
    return [_column(system) for system in TABLE1.values()]


def _column(system: System) -> Column:
    design = PRESETS[system.board]
    estimates = [estimate(design, method, pipelines_only=True) for method in ("paper-calibrated", "bottom-up")]
    if system.board == "u200":
        estimates.append(estimate(PRESETS["u200_resources16"], pipelines_only=True))
    shares = system.used.shares(find_board(system.board).available)
    return Column(system, {kind: 100 * share for kind, share in shares.items()}, tuple(estimates))


def contradictions() -> list[str]:
    """Return where Table I does not agree with itself or with the text, a sentence each."""
    small, large = TABLE1["zcu102"], TABLE1["u200"]
    half = large.unroll // 2
    words = large.most_right
    deep = -(-words // BRAM_WORDS)
    banked = large.unroll * -(-words // large.unroll // BRAM_WORDS)
    return [
        f"Lanes of the U200: its resources are {_each(large.used, large.unroll)} for each of {large.unroll} lanes, and "
        f"would be {_each(large.used, half)} for each of {half}; the ZCU102 spends "
        f"{_each(small.used, small.unroll)}, and the adders of {large.unroll} lanes alone would take "
        f"{8 * large.unroll} DSP as HLS builds them by default. Yet {half} lanes could not exceed "
        f"{half * large.clock_mhz:,.0f} M omega/s, of which Table III's 3,750 would be "
        f"{percent(3750 / (half * large.clock_mhz))}.",
        f"RS buffer of the U200: {words:,} right-side iterations (section VI.A) would take {deep} BRAM18K, {banked} in "
        f"{large.unroll} banks, and Table I has {large.used.bram18k} for the whole design.",
        "Speedups: the abstract has 57.1x for omega and 61.7x for the complete analysis; Table III and the text have "
        "61.7x for omega and 57.1x for the total of that workload.",
        "Four cores: the text excepts the high-omega workload from those on which both accelerators beat a 4-core CPU; "
        "the rates it gives for that CPU make it slower than both on all three (`table3`).",
    ]


def _each(used: Amount, lanes: int) -> str:
    return f"{used.dsp / lanes:.1f} DSP, {used.ff / lanes:,.0f} FF and {used.lut / lanes:,.0f} LUT"
