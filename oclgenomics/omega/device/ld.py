"""Linkage disequilibrium of all pairs of sites of a region, in blocks of rows from the device.

Unlike a scan, which keeps sums only, this brings the values themselves to the host, a block of rows at a time. A
caller takes the blocks as they come: for their picture, for the means of a window's parts, or to write them.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from oclgenomics.errors import UsageError, check_choice
from oclgenomics.omega.device.kernels import CPU_LANES, launch_known
from oclgenomics.omega.device.sites import DeviceSites, planes_of
from oclgenomics.omega.options import MAP_MEASURES, MapMeasure
from oclgenomics.omega.plan.windows import TILE, round_up
from oclgenomics.runtime import BufferNeed, Engine
from oclgenomics.variation.alignment import Alignment

MAX_SITES = 20_000  # 200 million pairs, and 1.5 GiB as a matrix
ROWS_EACH = 4  # rows a work-item does; kernels_cl/omega/ld_matrix.cl
BLOCK_BYTES = 64 << 20  # large enough for a GPU to be busy, small enough to stay out of the host's way


@dataclass(frozen=True)
class LdBlock:
    """The values of some rows.

    Attributes
    ----------
    row0 : int
        First site of the rows, and of the columns.
    values : ndarray, float32 (rows, sites - row0)
        Entry (s, t) is the pair of the sites row0 + s and row0 + t; 0 unless s < t, so each pair is there once. An r2
        is NaN where a site does not vary over the haplotypes observed at both, n r2 is 0 there.
    """

    row0: int
    values: NDArray[np.float32]


def ld_blocks(alignment: Alignment, engine: Engine, *, measure: MapMeasure = "r2") -> Iterator[LdBlock]:
    """Compute linkage disequilibrium between all sites of an alignment, block by block of rows.

    Parameters
    ----------
    alignment : Alignment
        Prepared by `omega.sites.prepare`: every site shows at least two states.
    engine : Engine
    measure : {'r2', 'nr2'}
        See `oclgenomics.omega.options.MapMeasure`. Of unphased data, genotypes are correlated. A pair with sites of
        three or more states has the value that omega gives it, see docs/how/omega.md; it may pass 1 where both sites
        have three.

    Yields
    ------
    LdBlock
        Where a site does not vary over the haplotypes observed at both, r2 is NaN and nr2 0.

    Raises
    ------
    UsageError
        An unknown measure, or more than `MAX_SITES`.
    DeviceError
        Not enough device memory, or a device lost on the way.
    """
    check_choice("measure", measure, MAP_MEASURES)
    if alignment.sites > MAX_SITES:
        raise UsageError(
            f"{alignment.sites:,} sites are in the region and at most {MAX_SITES:,} are possible; "
            "choose a smaller region or leave out rare alleles (`maf`)"
        )
    planes, cpu = planes_of(alignment), engine.tuning.cpu
    sites = DeviceSites(engine, planes, resident=True)
    known = {
        **sites.arrays, **sites.planes(), "words": planes.words, "units": planes.units, "haplotypes": planes.haplotypes
    }  # fmt: skip
    defines = {
        "GENOTYPES": int(planes.genotypes),
        "MASKED": int(planes.missing),
        "WIDE": int(planes.wide),
        "PER_HAPLOTYPE": int(measure == "r2"),
    }
    lanes, tile = CPU_LANES if cpu else 1, engine.group_size(TILE)
    pairs = engine.kernel("omega/ld_matrix.cl", "ld_matrix", **defines, VW=lanes)
    padded = round_up(alignment.sites, TILE)
    rows = _block_rows(engine, padded)
    out = engine.empty(rows * padded, np.float32)
    for row0 in range(0, alignment.sites, rows):
        count, stride = min(rows, alignment.sites - row0), padded - row0
        known |= {"out": out, "row0": row0, "rows": count, "stride": stride}
        launch_known(engine, pairs, (stride // lanes, -(-count // ROWS_EACH)), (1 if cpu else tile, 1), known)
        if "alleles" in known:
            alleles = engine.kernel("omega/ld_alleles.cl", "ld_alleles", **defines, VW=1)
            launch_known(engine, alleles, (stride, count), (tile, 1), known)
        values = engine.download(out, count * stride).reshape(count, stride)
        yield LdBlock(row0, values[:, : alignment.sites - row0])
    out.release()


def _block_rows(engine: Engine, stride: int) -> int:
    """Rows of a block: whole tiles."""
    need = BufferNeed("linkage disequilibrium", per_item=4 * stride * TILE)
    fit = engine.items_that_fit([need], item="tile of rows")
    return TILE * max(1, min(fit, BLOCK_BYTES // need.per_item, stride // TILE))
