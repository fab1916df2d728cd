"""Statistics with positions of their own: what makes a family of them, and how values get on the rows of a scan."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, ClassVar, Protocol

import numpy as np
from numpy.typing import NDArray

from oclgenomics.runtime import Engine
from oclgenomics.sweeps.arrays import Floats
from oclgenomics.sweeps.options import LOW, Statistic, SweepOptions
from oclgenomics.sweeps.plan import Portion, on_rows
from oclgenomics.sweeps.sites.mask import Mask
from oclgenomics.sweeps.sites.used import UsedSites

Background = Mapping[str, NDArray[np.float64]]


@dataclass(frozen=True, eq=False)
class Native:
    """Statistics of one alignment at positions of their own: the middles of windows, scored sites, or a grid.

    Attributes
    ----------
    at : ndarray of float64, shape (positions,)
        Bp, in ascending order.
    values : mapping of str to ndarray of float64, shape (positions,)
        By the names of the family that were asked for; NaN where there is no value.
    remarks : tuple of str
        What a person has to know of the values of this alignment, each in a line.
    details : mapping of str to object
        What else is known, by statistic; see `Scan.details`.
    """

    at: Floats
    values: Mapping[str, Floats]
    remarks: tuple[str, ...] = ()
    details: Mapping[str, Any] = field(default_factory=dict, kw_only=True)

    def on_rows(self, rows: Floats, step: float | None) -> dict[str, Floats]:
        """Return the values at the positions of rows, `step` bp apart if they are a grid; see `plan.on_rows`."""
        return {name: on_rows(self.at, each, rows, step, low=name in LOW) for name, each in self.values.items()}


class Family(Protocol):
    """Statistics that are computed together, on one device.

    A scan measures each alignment as it is read, with its sites at hand, and keeps what that returns: so it is small,
    and holds no sites. Where values depend on all alignments of an input, the scan waits for the last one. Pieces of a
    scan measure portions of alignments, and the values are those of all portions joined.

    Parameters
    ----------
    engine : Engine, optional
        None: what is measured comes from elsewhere.
    block_sites : int, optional
        Sites of a block instead of those that fit in memory. Results never depend on it.

    Attributes
    ----------
    name : str
        Of the background, in files.
    statistics : tuple of str
    late : bool
        Values are computed on the device, once the background is known. Pieces do that for their portions: `native`
        takes them as measured, too.
    """

    name: ClassVar[str]
    statistics: ClassVar[tuple[Statistic, ...]]
    late: ClassVar[bool]

    def __init__(self, engine: Engine | None, *, block_sites: int | None = None) -> None: ...

    def needs_background(self, options: SweepOptions) -> bool:
        """Say whether values depend on all alignments of an input."""
        ...

    def measure(
        self, used: Sequence[UsedSites], options: SweepOptions, masks: Sequence[Mask], portions: Sequence[Portion]
    ) -> list[Any]:
        """Return what is known of the portion of each of some alignments, without all others."""
        ...

    def joined(self, measured: Sequence[Any]) -> Any:
        """Return what is known of an alignment from what is known of its portions, in their order."""
        ...

    def see(self, used: UsedSites, options: SweepOptions) -> None:
        """Take what the background of a late family needs of an alignment, whichever piece measures it."""
        ...

    def background(self, measured: Sequence[Any], options: SweepOptions) -> Background:
        """Return what all alignments of an input come to; not called if values do not depend on it."""
        ...

    def native(self, measured: Any, options: SweepOptions, background: Background | None) -> Native:
        """Return the values of one alignment."""
        ...

    def nearer(
        self, found: Native, used: UsedSites, at: Floats, options: SweepOptions, mask: Mask,
        background: Background | None,
    ) -> Native:  # fmt: skip
        """Return the values of an alignment for rows at further positions; what was found, if that has all there is."""
        ...
