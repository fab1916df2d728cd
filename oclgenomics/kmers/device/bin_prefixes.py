"""About how many k-mers have which prefixes, and cuts of the prefixes into spans whose k-mers fit into the pool."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from oclgenomics.kmers.device.bin_plan import BinPlan
from oclgenomics.kmers.device.prefix_span import PrefixSpan

__all__ = ["PrefixDensity", "plan_span", "planned_spans"]


@dataclass(frozen=True)
class PrefixDensity:
    """About how many k-mers the bins of a span have.

    Attributes
    ----------
    span : PrefixSpan
    kmers : ndarray, int64 (bins,)
    """

    span: PrefixSpan
    kmers: NDArray[np.int64]


Finer = Callable[[PrefixSpan], PrefixDensity]


def planned_spans(plan: BinPlan, density: PrefixDensity, finer: Finer) -> Iterator[PrefixSpan]:
    """Cut prefixes into spans whose k-mers fit into the pool at a time, as far as a density can tell.

    Parameters
    ----------
    plan : BinPlan
    density : PrefixDensity
        Spans consist of its bins. One that has too many k-mers is divided.
    finer : callable
        Gives the density of a span with finer bins.

    Yields
    ------
    PrefixSpan
        In ascending order, all prefixes of the density: also those that a sample has no k-mers of. The last ones that
        cannot be divided may have more k-mers than fit.
    """
    span, kmers = density.span, density.kmers
    rest = span.rest(plan.k)
    shorter = min(plan.shorter_bits(rest), span.shift)
    most = plan.span_kmers(rest)
    target, dense_target = (_even(int(kmers.sum()), plan.span_kmers(bits)) for bits in (rest, rest - shorter))
    dense_bins = plan.max_bins >> shorter  # as long as a span has no more, they can be divided for shorter keys
    first = held = 0
    for number in range(span.bins):
        coming = int(kmers[number])
        bits = plan.finer_bits(span.shift) if coming > most else 0
        fits = held + coming <= (dense_target if number - first < dense_bins else target)
        if first < number and (bits or (held and not fits)):
            yield plan_span(plan, span.cut(first, number), held)
            first, held = number, 0
        if bits:
            yield from planned_spans(plan, finer(span.cut(number, number + 1).divided(bits)), finer)
            first = number + 1
        else:
            held += coming
    if first < span.bins:
        yield plan_span(plan, span.cut(first, span.bins), held)


def _even(kmers: int, most: int) -> int:
    """K-mers of a span where all spans have about as many."""
    spans = -(-kmers // most)
    return min(most, -(-kmers // max(spans, 1)) * 21 // 20 + 1)


def plan_span(plan: BinPlan, span: PrefixSpan, kmers: int) -> PrefixSpan:
    """The same prefixes in bins of a good size for so many k-mers.

    Bins are as small as their number allows, and finer yet where the keys in them become shorter by that.
    """
    bits = plan.bin_bits(kmers, span.bins, span.rest(plan.k))
    return span.divided(min(bits, span.shift))
