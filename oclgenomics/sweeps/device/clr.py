"""Composite likelihood ratios on the device: sums of log ratios for many places and alphas at a time."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from oclgenomics.errors import DeviceError
from oclgenomics.runtime import DeviceArray, Engine
from oclgenomics.runtime.memory import BufferNeed
from oclgenomics.sweeps.arrays import Floats, Ints
from oclgenomics.sweeps.options import Statistic, SweepOptions
from oclgenomics.sweeps.plan import Portion, highest_in_bins, on_rows
from oclgenomics.sweeps.reference_clr import LEAST_DISTANCE
from oclgenomics.sweeps.sites.mask import Mask
from oclgenomics.sweeps.sites.used import UsedSites
from oclgenomics.sweeps.statistics.clr import (
    CELLS,
    COARSE_BITS,
    FINE_BITS,
    FINE_CELL,
    FINE_FROM,
    NODES,
    PLACE_BITS,
    STEP,
    UNIT_BITS,
    VALUE_BITS,
    ClrSites,
    SiteClasses,
    background,
    best_alphas,
    fixed_alphas,
    fixed_places,
    logarithm_tables,
    ratio_table,
    read_spectrum,
    spectrum_checksum,
)
from oclgenomics.sweeps.statistics.families import Background, Native
from oclgenomics.variation.recombination_map import RecombinationMap, read_recombination_map

SOURCE = "sweeps/clr.cl"
LANES = 64
FIRST_EACH, LATER_EACH = 4, 2  # alphas of a task, in the first round and in the others
SITE_BYTES, TASK_BYTES = 12, 8 + 20 * FIRST_EACH
MOST_TASKS = 1 << 16


@dataclass(frozen=True, eq=False)
class ClrValues(Native):
    """CLR at its places; on a row, alpha is that of the place whose CLR the row has, or of the nearest one."""

    def on_rows(self, rows: Floats, step: float | None) -> dict[str, Floats]:
        ratios, alphas = self.values["clr"], self.values["clr_alpha"]
        found = {"clr": on_rows(self.at, ratios, rows, step, low=False)}
        if not len(self.at):
            return found | {"clr_alpha": np.full(len(rows), np.nan)}
        middles = (self.at[1:] + self.at[:-1]) / 2
        nearest = np.searchsorted(middles, rows)
        if step is not None and len(rows):
            best = highest_in_bins(self.at, ratios, rows, step)
            nearest = np.where(best >= 0, best, nearest)
        return found | {"clr_alpha": np.where(np.isnan(found["clr"]), np.nan, alphas[nearest])}


class Clr:
    """The composite likelihood ratio as a family of statistics; see `families.Family`.

    Parameters
    ----------
    engine : Engine, optional
    block_sites : int, optional
        Alphas at one place that are computed at a time, at most. Results never depend on it.
    """

    name: ClassVar[str] = "clr"
    statistics: ClassVar[tuple[Statistic, ...]] = ("clr",)
    late: ClassVar[bool] = True

    def __init__(self, engine: Engine | None, *, block_sites: int | None = None) -> None:
        self._scorer = None if engine is None else ClrScorer(engine, most_tasks=block_sites or MOST_TASKS)
        self._map: RecombinationMap | None = None
        self._spectrum: Floats | None = None
        self._seen: list[SiteClasses] = []
        self._classes: SiteClasses | None = None  # of the whole input, if all of it was seen

    def needs_background(self, options: SweepOptions) -> bool:
        """Say whether the background spectrum is that of the input."""
        return options.clr_spectrum is None

    @property
    def given(self) -> str:
        """The checksum of the background spectrum, if it is of a file that was read; else empty."""
        return "" if self._spectrum is None else spectrum_checksum(self._spectrum)

    def measure(
        self, used: Sequence[UsedSites], options: SweepOptions, masks: Sequence[Mask], portions: Sequence[Portion]
    ) -> list[ClrSites]:
        """Return the sites of each alignment as CLR takes them, some 16 bytes each, and places of the portion.

        Raises
        ------
        InputError
            The recombination map or the spectrum cannot be read, or does not have a chromosome.
        """
        if options.recombination_map is not None and self._map is None:
            self._map = read_recombination_map(options.recombination_map)
        if options.clr_spectrum is not None and self._spectrum is None:
            self._spectrum = read_spectrum(options.clr_spectrum)
        return [
            ClrSites.of(one, options, mask, self._map).portion(portion)
            for one, mask, portion in zip(used, masks, portions, strict=True)
        ]

    def joined(self, measured: Sequence[ClrValues]) -> ClrValues:
        """Join the values of portions."""
        names = measured[0].values
        values = {name: np.concatenate([one.values[name] for one in measured]) for name in names}
        return ClrValues(np.concatenate([one.at for one in measured]), values)

    def see(self, used: UsedSites, options: SweepOptions) -> None:
        """Count the sites of an alignment by class."""
        sites = ClrSites.of(used, options, Mask.of(None, used.name, options), None)
        own = SiteClasses.among(sites.derived, sites.observed, folded=options.clr_folded)
        self._seen = [SiteClasses.added([*self._seen, own])]

    def background(self, measured: Sequence[ClrSites], options: SweepOptions) -> Background:
        """Return the spectrum of all sites of an input: of those that were seen, or else measured."""
        derived, observed = (
            np.concatenate([np.zeros(0, np.int32), *(getattr(one, name) for one in measured)])
            for name in ("derived", "observed")
        )
        known = self._seen or [SiteClasses.among(derived, observed, folded=options.clr_folded)]
        self._classes = known[0]
        return {"spectrum": background(self._classes)}

    def native(self, measured: ClrSites | ClrValues, options: SweepOptions, background: Background | None) -> Native:
        """Return CLR along one alignment.

        Raises
        ------
        UsageError
            The spectrum does not suit the sites.
        DeviceError
            Not enough device memory, or a device lost on the way.
        """
        if isinstance(measured, ClrValues):
            return measured
        spectrum = self._spectrum if background is None else background["spectrum"]
        assert spectrum is not None
        assert self._scorer is not None
        ratios, alphas = self._scorer.scan(measured, spectrum, folded=options.clr_folded, every=self._classes)
        return ClrValues(measured.places, {"clr": ratios, "clr_alpha": alphas})

    def nearer(
        self, found: Native, used: UsedSites, at: Floats, options: SweepOptions, mask: Mask,
        background: Background | None,
    ) -> Native:  # fmt: skip
        """Compute CLR at further positions, unless it is known at closer ones."""
        assert options.refine is not None
        if options.clr_step is not None and options.clr_step <= options.refine:
            return found
        return self.native(ClrSites.of(used, options, mask, self._map, at), options, background)


class ClrScorer:
    """Computes log ratios on one device, and keeps the table of the last spectrum there.

    Parameters
    ----------
    engine : Engine
    most_tasks : int
        Tasks of a launch, each a few alphas at one place. Results never depend on it.
    """

    def __init__(self, engine: Engine, *, most_tasks: int = MOST_TASKS) -> None:
        self._engine, self._most_tasks = engine, most_tasks
        self._logarithms: dict[str, DeviceArray] = {}
        self._spectrum: Floats | None = None
        self._known: SiteClasses | None = None
        self._table: dict[str, DeviceArray] = {}

    def scan(
        self, one: ClrSites, spectrum: Floats, *, folded: bool, every: SiteClasses | None = None
    ) -> tuple[Floats, Floats]:
        """Compute the log ratio and the alpha at the places of an alignment, float64 (places,) each.

        They are NaN where no sweep reaches any site.

        Parameters
        ----------
        one : ClrSites
        spectrum : ndarray of float64, shape (haplotypes + 1,)
        folded : bool
            Which state is derived is not known.
        every : SiteClasses, optional
            Classes to come, for which the table is made at once.

        Raises
        ------
        UsageError
            The spectrum does not suit the sites.
        DeviceError
            Not enough device memory, or a device lost on the way.
        """
        low, high, least = one.limits()
        if not (low < high).any():
            return np.full(len(low), np.nan), np.full(len(low), np.nan)
        engine, classes = self._engine, SiteClasses.among(one.derived, one.observed, folded=folded)
        rows = self._rows_of(classes, spectrum, every)[classes.of] * NODES
        if not self._logarithms:
            tables = zip(("octaves", "centres", "reciprocals"), logarithm_tables(), strict=True)
            self._logarithms = {name: engine.upload(table) for name, table in tables}
        held = {"sites": engine.upload(fixed_places(one.sites)), "rows": engine.upload(rows.astype(np.uint32))}
        try:
            return best_alphas(low, high, least, lambda places, alphas: self._scores(one, held, places, alphas))
        finally:
            for array in held.values():
                array.release()

    def _rows_of(self, classes: SiteClasses, spectrum: Floats, every: SiteClasses | None) -> Ints:
        """Rows of the table for classes; it is made anew for another spectrum, or for classes that it lacks."""
        same = self._known is not None and self._known.folded == classes.folded and self._spectrum is spectrum
        if not same or self._known is None or not self._known.have(classes):
            wanted = [one for one in (classes, every, self._known if same else None) if one is not None]
            self._known, self._spectrum = SiteClasses.union(wanted), spectrum
            for array in self._table.values():
                array.release()
            _check_memory(self._engine, len(self._known.derived), len(classes.of))
            table = ratio_table(self._known, spectrum)
            self._table = {
                "values": self._engine.upload(table.values.reshape(-1)),
                "slopes": self._engine.upload(table.slopes.reshape(-1)),
            }
        return np.searchsorted(self._known.keys, classes.keys)

    def _scores(self, one: ClrSites, held: dict[str, DeviceArray], places: Ints, alphas: Floats) -> Ints:
        """The log ratios of alphas (places, alphas) at some places, in units of 2^-VALUE_BITS."""
        found = np.empty(alphas.shape, np.int64)
        first, stop = one.reach(places, alphas)
        at = fixed_places(one.at)[places]
        each = FIRST_EACH if alphas.shape[1] > FIRST_EACH + 1 else LATER_EACH
        step = max(self._most_tasks // -(-alphas.shape[1] // each), 1)
        for begin in range(0, len(places), step):
            part = slice(begin, begin + step)
            found[part] = self._launch(held, each, at[part], alphas[part], first[part], stop[part])
        return found

    def _launch(
        self, held: dict[str, DeviceArray], each: int, at: Ints, alphas: Floats, first: Ints, stop: Ints
    ) -> Ints:
        """Those of some places, which are one launch; the last task of a place may repeat its last alpha."""
        engine, count = self._engine, alphas.shape[1]
        tasks = -(-count // each)
        column = np.minimum(np.arange(tasks * each), count - 1)
        given: dict[str, NDArray[Any]] = {
            "places": np.repeat(at, tasks), "shifts": fixed_alphas(alphas)[:, column],
            "first": first[:, column].astype(np.uint32), "stop": stop[:, column].astype(np.uint32),
        }  # fmt: skip
        arrays = {name: engine.upload(np.ascontiguousarray(array).reshape(-1)) for name, array in given.items()}
        sums = engine.empty(len(at) * tasks * each, np.int64)
        kernel, lanes = self._kernel(each)
        engine.launch(
            kernel, (len(at) * tasks * lanes,), (lanes,), **held, **self._table, **self._logarithms, **arrays,
            sums=sums, units=float(np.float32(2.0**UNIT_BITS / STEP)),
        )  # fmt: skip
        found: Ints = engine.download(sums).reshape(len(at), -1)[:, :count]
        for array in (*arrays.values(), sums):
            array.release()
        return found

    def _kernel(self, each: int) -> tuple[Any, int]:
        lanes = self._engine.group_size(LANES, least=FIRST_EACH)
        defines = {
            "LANES": lanes, "ALPHAS": each, "UNIT_BITS": UNIT_BITS, "COARSE_BITS": COARSE_BITS, "FINE_BITS": FINE_BITS,
            "FINE_FROM": FINE_FROM, "FINE_CELL": FINE_CELL, "LAST": CELLS - 1, "VALUE_BITS": VALUE_BITS,
            "LEAST": round(LEAST_DISTANCE * 2**PLACE_BITS),
        }  # fmt: skip
        return self._engine.kernel(SOURCE, "clr_scores", **defines), lanes


def _check_memory(engine: Engine, classes: int, sites: int) -> None:
    """Refuse more kinds of sites than fit on the device.

    Raises
    ------
    DeviceError
        They do not fit.
    """
    needs = [
        BufferNeed("values", per_item=8 * NODES), BufferNeed("slopes", per_item=4 * NODES),
        BufferNeed("sites", fixed=SITE_BYTES * sites), BufferNeed("tasks", fixed=TASK_BYTES * MOST_TASKS),
    ]  # fmt: skip
    try:
        engine.items_that_fit(needs, minimum=classes, item="site kind")
    except DeviceError as error:
        raise DeviceError(f"{error.args[0]}; `missing=drop` leaves fewer kinds of sites") from error
