"""Composite likelihood ratios on the device: sums of log ratios for many places and alphas at a time."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from oclgenomics.errors import DeviceError
from oclgenomics.runtime import DeviceArray, Engine
from oclgenomics.runtime.memory import BufferNeed
from oclgenomics.sweeps.clr import (
    CELLS,
    COARSE_BITS,
    FINE_BITS,
    FINE_CELL,
    FINE_FROM,
    LEAST_DISTANCE,
    NODES,
    PLACE_BITS,
    STEP,
    UNIT_BITS,
    VALUE_BITS,
    ClrSites,
    RatioTable,
    best_alphas,
    fixed_alphas,
    fixed_places,
    logarithm_tables,
)
from oclgenomics.sweeps.plan import Floats, Ints

SOURCE = "sweeps/clr.cl"
LANES = 64
FIRST_EACH, LATER_EACH = 4, 2  # alphas of a task, in the first round and in the others
NODE_BYTES, SITE_BYTES, TASK_BYTES = 12, 12, 8 + 20 * FIRST_EACH
MOST_TASKS = 1 << 18


class ClrScanner:
    """Computes CLR on one device.

    Parameters
    ----------
    engine : Engine
    most_tasks : int
        Tasks of a launch, each a few alphas at one place. Results never depend on it.
    """

    def __init__(self, engine: Engine, *, most_tasks: int = MOST_TASKS) -> None:
        self._engine, self._most_tasks = engine, most_tasks
        self._logarithms: list[DeviceArray] = []

    def scan(self, alignments: Sequence[ClrSites], tables: Sequence[RatioTable]) -> list[tuple[Floats, Floats]]:
        """Compute the log ratio and the alpha at all places of some alignments, float64 (places,) each.

        Results do not depend on which alignments are computed together. They are NaN where no sweep reaches any site.

        Parameters
        ----------
        alignments : sequence of ClrSites
        tables : sequence of RatioTable
            Of the classes of each; one that several share goes to the device once.

        Raises
        ------
        DeviceError
            Not enough device memory, or a device lost on the way.
        """
        limits = [one.limits() for one in alignments]
        low, high = (np.concatenate([np.zeros(0), *(pair[side] for pair in limits)]) for side in (0, 1))
        if not (low < high).any():
            return [(np.full(len(one.at), np.nan), np.full(len(one.at), np.nan)) for one in alignments]
        with _Joined(self._engine, alignments, tables, self._shared_tables(), self._most_tasks) as joint:
            ratios, alphas = best_alphas(low, high, joint.scores)
        ends = np.cumsum([len(one.at) for one in alignments])[:-1]
        return list(zip(np.split(ratios, ends), np.split(alphas, ends), strict=True))

    def _shared_tables(self) -> Sequence[DeviceArray]:
        if not self._logarithms:
            self._logarithms = [self._engine.upload(table) for table in logarithm_tables()]
        return self._logarithms


class _Joined:
    """Sites and tables of some alignments on the device, end to end."""

    def __init__(
        self, engine: Engine, alignments: Sequence[ClrSites], tables: Sequence[RatioTable],
        logarithms: Sequence[DeviceArray], most_tasks: int,
    ) -> None:  # fmt: skip
        self._engine, self._alignments, self._most_tasks = engine, alignments, most_tasks
        self._ends = np.cumsum([len(one.at) for one in alignments])
        self._bases = np.concatenate([[0], np.cumsum([len(one.sites) for one in alignments])])
        self._places = np.concatenate([fixed_places(one.at) for one in alignments])
        own = list({id(table): table for table in tables}.values())
        rows = dict(zip(map(id, own), np.cumsum([0, *(len(table.values) for table in own)]).tolist(), strict=False))
        classes = sum(len(table.values) for table in own)
        _check_memory(engine, classes, int(self._bases[-1]))
        row = [
            (rows[id(table)] + one.classes.of) * NODES for one, table in zip(alignments, tables, strict=True)
        ]  # fmt: skip
        with engine.profile.mark("upload sites"):
            self._held = {
                "sites": engine.upload(np.concatenate([fixed_places(one.sites) for one in alignments])),
                "rows": engine.upload(np.concatenate(row).astype(np.uint32)),
                "values": engine.upload(np.concatenate([table.values for table in own]).reshape(-1)),
                "slopes": engine.upload(np.concatenate([table.slopes for table in own]).reshape(-1)),
            }
        self._shared = dict(zip(("octaves", "centres", "reciprocals"), logarithms, strict=True))

    def __enter__(self) -> _Joined:
        return self

    def __exit__(self, kind: object, *rest: Any) -> None:
        for array in self._held.values():
            array.release()

    def scores(self, places: Ints, alphas: Floats) -> Ints:
        """The log ratios of alphas (places, alphas) at some places, in units of 2^-VALUE_BITS."""
        found = np.zeros(alphas.shape, np.int64)
        if not found.size:
            return found
        first, stop = (np.zeros(alphas.shape, np.int64) for _ in range(2))
        borders = np.concatenate([[0], np.searchsorted(places, self._ends)])
        start = 0
        for number, one in enumerate(self._alignments):
            part = slice(int(borders[number]), int(borders[number + 1]))
            if part.start < part.stop:
                low, high = one.reach(places[part] - start, alphas[part])
                first[part], stop[part] = low + self._bases[number], high + self._bases[number]
            start = int(self._ends[number])
        each = FIRST_EACH if alphas.shape[1] > FIRST_EACH + 1 else LATER_EACH
        tasks = -(-alphas.shape[1] // each)
        step = max(self._most_tasks // tasks, 1)
        for begin in range(0, len(places), step):
            part = slice(begin, begin + step)
            found[part] = self._launch(each, places[part], alphas[part], first[part], stop[part])
        return found

    def _launch(self, each: int, places: Ints, alphas: Floats, first: Ints, stop: Ints) -> Ints:
        """Those of some places, which are one launch; the last task of a place may repeat its last alpha."""
        engine, count = self._engine, alphas.shape[1]
        tasks = -(-count // each)
        column = np.minimum(np.arange(tasks * each), count - 1)
        given: dict[str, NDArray[Any]] = {
            "places": np.repeat(self._places[places], tasks), "shifts": fixed_alphas(alphas)[:, column],
            "first": first[:, column].astype(np.uint32), "stop": stop[:, column].astype(np.uint32),
        }  # fmt: skip
        arrays = {name: engine.upload(np.ascontiguousarray(array).reshape(-1)) for name, array in given.items()}
        sums = engine.empty(len(places) * tasks * each, np.int64)
        kernel, lanes = self._kernel(each)
        engine.launch(
            kernel, (len(places) * tasks * lanes,), (lanes,), **self._held, **self._shared, **arrays, sums=sums,
            units=float(np.float32(2.0**UNIT_BITS / STEP)),
        )  # fmt: skip
        found = engine.download(sums).reshape(len(places), -1)[:, :count]
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
    """Refuse more classes of sites than fit.

    Raises
    ------
    DeviceError
        They do not.
    """
    fixed = SITE_BYTES * sites + TASK_BYTES * 1024
    try:
        engine.items_that_fit(
            [
                BufferNeed("values", per_item=8 * NODES), BufferNeed("slopes", per_item=4 * NODES),
                BufferNeed("sites and tasks", fixed=fixed),
            ],
            minimum=classes, item="kind of site",
        )  # fmt: skip
    except DeviceError as error:
        raise DeviceError(f"{error}; fewer kinds of sites are left with `missing=drop`") from error
