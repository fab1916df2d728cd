"""What a scan would take on a design: time, rate, energy and bottleneck, from genotypes to maxima."""

from __future__ import annotations

from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass, replace
from functools import cached_property

from hls_model import extras
from hls_model.choices import ACCOUNTINGS, Accounting, Level
from hls_model.clock import clock_record
from hls_model.config import WORD_BITS, Config
from hls_model.errors import ModelError
from hls_model.limits import check_possible, check_sides
from hls_model.phases import (
    CardMemory,
    Phase,
    ScanBottleneck,
    card_memory,
    find_scan_bottleneck,
    phases_of,
    starts_each,
    total,
)
from hls_model.phases.bottleneck import Bottleneck, find_bottleneck
from hls_model.ranges import Range
from hls_model.records import record_of
from hls_model.resources import estimate
from hls_model.text import check_choice
from hls_model.timing import Timing
from hls_model.uncertainty import Band, Contribution, built_band, built_timing, contributions
from hls_model.workload import Workload

PAPER: Mapping[str, str] = {"ld": "published", "layout": "shifted", "launch": "per_scan"}


def counted(config: Config, accounting: Accounting) -> Config:
    """Return the design as an accounting has it.

    With 'paper', LD comes from the published accelerator, a shifter aligns columns and the kernels are started once;
    the pairs of LD (`hls_model.project.project`) are then all pairs.

    Raises
    ------
    ModelError
        No such accounting.
    """
    check_choice("accounting", accounting, ACCOUNTINGS)
    return config.but(**PAPER) if accounting == "paper" else config


@dataclass(frozen=True)
class Projection:
    """A scan on a design.

    Attributes
    ----------
    timing : Timing
        The omega pipeline's part; its design is the one that `accounting` counts.
    bottleneck : Bottleneck or None
        What bounds it; None where there is nothing to do.
    all_pairs : bool
        LD counts the square of the SNPs, as the GPU version of OmegaPlus computes it; else the pairs that windows hold.
    band : Band or None
        The omega pipeline's part at both ends of what is not known; None where no range is asked for.
    accounting : {'design', 'paper'}
        What is counted; see `hls_model.project`.
    given, given_pairs : Config or None, bool
        The design and `all_pairs` as they were given, which the accounting 'design' counts; None is those above.
    """

    timing: Timing
    bottleneck: Bottleneck | None
    all_pairs: bool = False
    band: Band | None = None
    accounting: Accounting = "design"
    given: Config | None = None
    given_pairs: bool = False

    def counted_as(self, accounting: Accounting) -> Projection:
        """Return the same scan with another accounting; the omega pipelines take the same cycles in all of them."""
        if accounting == self.accounting:
            return self
        given, pairs = (self.timing.config, self.all_pairs) if self.given is None else (self.given, self.given_pairs)
        timing = replace(self.timing, config=counted(given, accounting))
        every = pairs or accounting == "paper"
        return replace(self, timing=timing, all_pairs=every, accounting=accounting, given=given, given_pairs=pairs)

    @cached_property
    def totals(self) -> dict[Accounting, Range]:
        """Seconds of the whole scan by every accounting; one that the card's memory does not hold is left out."""
        found: dict[Accounting, Range] = {self.accounting: self.total}
        for name in ACCOUNTINGS:
            if name != self.accounting:
                with suppress(ModelError):  # the scan does not fit as that one counts
                    found[name] = self.counted_as(name).total
        return {name: found[name] for name in ACCOUNTINGS if name in found}

    @property
    def omega_seconds(self) -> float:
        """Seconds of omega, including the work of the host."""
        return self.timing.seconds

    @property
    def omega_range(self) -> Range:
        """The same with its bounds; exact where there is no band."""
        return Range.exactly(self.omega_seconds) if self.band is None else self.band.seconds

    @property
    def rate_range(self) -> Range:
        """Scores per second of the whole scan; exact where there is no band."""
        return Range.exactly(self.timing.rate) if self.band is None else self.band.rate

    @cached_property
    def pipelines_range(self) -> Range:
        """Seconds that the pipelines are at work.

        Where each position has a start, what it costs on top is in the phase 'start kernels' and not here.
        """
        if self.band is None:
            return Range.exactly(self.timing.hardware_seconds)
        if not starts_each(self.timing.config):
            return self.band.hardware_seconds
        likely, *ends = (one.seconds_with_overhead(0.0) for one in (self.timing, self.band.low, self.band.high))
        return Range.spanning(likely, *ends)

    @cached_property
    def phases(self) -> tuple[Phase, ...]:
        """The phases of the whole scan; see `hls_model.phases`."""
        return phases_of(self.timing, self.pipelines_range, all_pairs=self.all_pairs)

    @cached_property
    def memory(self) -> CardMemory:
        """What the scan keeps in the card's memory, and the stretches in which it is done."""
        return card_memory(self.timing.workload, self.timing.config, all_pairs=self.all_pairs)

    @property
    def total(self) -> Range:
        """Seconds of the whole scan, end to end."""
        return total(self.phases)

    @property
    def scan_bottleneck(self) -> ScanBottleneck | None:
        """The longest phase of the whole scan; None where there is nothing to do."""
        return find_scan_bottleneck(self.phases, self.bottleneck)

    @property
    def ld_scores(self) -> int:
        """Pairs of SNPs whose LD is computed."""
        workload = self.timing.workload
        return workload.ld_scores if self.all_pairs else workload.window_pairs

    @property
    def ld_seconds(self) -> float | None:
        """Likely seconds of LD, on the card or on the published accelerator; None where the samples are not known."""
        return None if self.ld_range is None else self.ld_range.likely

    @property
    def ld_range(self) -> Range | None:
        """The same with its bounds."""
        if not self.timing.workload.samples:
            return None
        return sum((phase.seconds for phase in self.phases if phase.name == "LD"), Range.exactly(0.0))

    @property
    def seconds(self) -> float:
        """Likely seconds of the whole scan."""
        return self.total.likely

    @property
    def busy(self) -> Range:
        """Seconds in which the card works: LD on it, the building of M and its layout, the pipelines."""
        seconds = sum((one.seconds for one in self.phases if one.where == "card"), Range.exactly(0.0))
        whole = self.total  # the same sums in another order, so it may be less by the last digit
        return Range(*map(min, vars(seconds).values(), vars(whole).values()))

    @property
    def moved(self) -> int:
        """Bytes that the card's memory reads and writes while it works."""
        of_pipelines = round(WORD_BITS // 8 * self._words * self.timing.hardware_omegas)
        return of_pipelines + sum(one.bytes for one in self.phases if one.where == "card")

    @property
    def _words(self) -> int:
        """Words of memory that the pipelines read for each omega."""
        return 1 if self.timing.config.rs_prefetch != "none" else 2

    @property
    def power(self) -> extras.Power:
        """Watts of the board while the pipelines work: the design's own figure where it is given, else the model's."""
        timing = self.timing
        return extras.power_of(timing.config, timing.hardware_rate * self._words * WORD_BITS / 8 / 1e9)

    @property
    def energy(self) -> Range:
        """Joules of the board, which works in `busy` and rests in the rest of `total`; each bound with its own."""
        moved = extras.memory_joules(self.timing.config.hardware, self.moved)
        return self.power.joules(self.total, self.busy, moved)

    @cached_property
    def made_of(self) -> list[Contribution]:
        """What each open parameter does to `omega_range` alone, the widest first; each takes timings of its own."""
        return [] if self.band is None else contributions(self.band)

    def record(self) -> dict[str, object]:
        """Return the projection as numbers and words for JSON."""
        timing, longest = self.timing, self.scan_bottleneck
        regions = estimate(timing.config).placement.regions
        return {
            **record_of(timing, "workload=workload.name design=config.name"),
            **clock_record(timing.config),
            "level": timing.level,
            "exact": timing.bound == "exact",
            **record_of(timing, "bound snps=workload.snps samples=workload.samples"),
            "positions": len(timing.workload.left),
            **record_of(timing, "omegas=workload.omegas software_omegas cycles"),
            "kernel_utilisation": timing.schedule.utilisation.tolist(),
            "phases_cycles": {name: int(count.sum()) for name, count in timing.phases.items()},
            **record_of(timing, "pipeline_seconds=hardware_seconds software_seconds transfer_seconds"),
            **record_of(self, "omega_seconds omega_per_s=timing.rate pipeline_omega_per_s=timing.hardware_rate"),
            **record_of(self, "ld_scores ld_seconds ld=timing.config.ld seconds accounting total_seconds=total"),
            **record_of(self, "total_seconds_by_accounting=totals phases card_memory=memory"),
            "scan_bottleneck": longest and record_of(longest, "phase=phase.name share sentence advice"),
            "range": self._range_record(),
            "regions": [record_of(one, "name=region.name lanes share_of_placeable=share") for one in regions],
            **record_of(self, "busy_seconds=busy moved_bytes=moved joules=energy watts=power bottleneck"),
        }

    def _range_record(self) -> dict[str, object] | None:
        if self.band is None:
            return None
        return record_of(
            self,
            "omega_seconds=omega_range omega_per_s=rate_range pipeline_seconds=band.hardware_seconds "
            "pipeline_omega_per_s=band.hardware_rate seconds=total",
        )


def project(
    workload: Workload,
    config: Config,
    level: Level = "L1",
    *,
    all_pairs: bool = False,
    uncertainty: bool = True,
    accounting: Accounting = "design",
) -> Projection:
    """Project a scan onto a design.

    Parameters
    ----------
    workload, config, level : Workload, Config, str
        As for `simulate`.
    all_pairs : bool
        Count LD as the square of the SNPs.
    uncertainty : bool
        Also give the range that comes of what is not known (`hls_model.uncertainty`).
    accounting : {'design', 'paper'}
        Count the phases as the design has them; or as the totals of the paper do: LD of all pairs at the published
        accelerator's rate, columns that come aligned, one start of the kernels. `Projection.totals` has both.

    Raises
    ------
    ModelError
        No such accounting, a design that no board can be, a window beyond the hardware's counters
        (`hls_model.limits`), or one that the card's memory does not hold.
    """
    check_possible(config)
    check_sides(workload)
    card_memory(workload, counted(config, accounting), all_pairs=all_pairs or accounting == "paper")
    found = built_band(workload, config, level) if uncertainty else None
    timing = built_timing(workload, config, level) if found is None else found.likely
    return Projection(timing, find_bottleneck(timing), all_pairs, found).counted_as(accounting)


def total_ranges(projections: list[Projection]) -> dict[str, Range]:
    """Return 'omega_seconds', 'ld_seconds', 'seconds' and 'joules' of all scans of one design with their bounds.

    With them come the seconds by accounting, 'seconds_design' and 'seconds_paper', of which one is left out where the
    card's memory does not hold a scan as it counts.
    """
    none = Range.exactly(0.0)
    return {
        "omega_seconds": sum((one.omega_range for one in projections), none),
        "seconds": sum((one.total for one in projections), none),
        "ld_seconds": sum((one.ld_range or none for one in projections), none),
        "joules": sum((one.energy for one in projections), none),
        **{
            f"seconds_{name}": sum((one.totals[name] for one in projections), none)
            for name in ACCOUNTINGS
            if all(name in one.totals for one in projections)
        },
    }


def totals(projections: list[Projection]) -> dict[str, float]:
    """Return the totals of the scans of one design.

    These are 'omegas', 'omega_seconds', 'ld_seconds', and of all phases 'seconds' with its bounds 'seconds_low' and
    'seconds_high'; and the same by accounting, 'seconds_design' and 'seconds_paper'.
    """
    ranges = total_ranges(projections)
    whole = ranges["seconds"]
    return {
        "omegas": sum(one.timing.workload.omegas for one in projections),
        "omega_seconds": sum(one.omega_seconds for one in projections),
        "ld_seconds": sum(one.ld_seconds or 0.0 for one in projections),
        "seconds": whole.likely,
        "seconds_low": whole.low,
        "seconds_high": whole.high,
        **{name: seconds.likely for name, seconds in ranges.items() if name.startswith("seconds_")},
    }
