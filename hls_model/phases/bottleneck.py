"""What takes most of a whole scan, in one sentence, and what would help."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from hls_model.bottleneck import Bottleneck
from hls_model.phases.blocks import PIPELINES
from hls_model.phases.phase import Phase, total
from hls_model.text import percent

__all__ = ["ScanBottleneck", "find_scan_bottleneck"]

ADVICE: Mapping[str, str] = {
    "pack genotypes": "input that is packed already, or more cores",
    "send genotypes": "a faster link",
    "LD": "more units (ld_units) or a faster clock",
    "LD elsewhere": "LD on the card (ld=card)",
    "send r2": "LD on the card (ld=card)",
    "fetch r2": "M built on the card (host_transfer=none)",
    "build M": "more adders (matrix_adders), or more and wider ports",
    "build M host": "M built on the card (host_transfer=none)",
    "start kernels": "one start for all positions (launch=per_scan)",
    "repack blocks of M": "a shifter at the ports instead (layout=shifted)",
    "repack blocks of M host": "M on the card (host_transfer=none)",
    "shift columns": "columns that overlap (overlap_outer=true)",
    "permute for blocked lanes": "interleaved lanes (lane_map=interleaved)",
    PIPELINES: "more lanes or a faster clock",
    "send M": "M on the card (host_transfer=none)",
    "fetch remainder of M": "lanes masked in a last beat (remainder=masked)",
    "remainder": "lanes masked in a last beat (remainder=masked)",
    "fetch results": "larger scans in one go",
}


@dataclass(frozen=True)
class ScanBottleneck:
    """The longest phase of a scan.

    Attributes
    ----------
    phase : Phase
    share : float
        Its share of the scan's likely seconds.
    sentence, advice : str
        The same in words, and what would help.
    """

    phase: Phase
    share: float
    sentence: str
    advice: str


def find_scan_bottleneck(phases: Sequence[Phase], pipelines: Bottleneck | None = None) -> ScanBottleneck | None:
    """Return what takes most of a scan, whose pipelines may have a bottleneck of their own; None where nothing does."""
    seconds = total(phases).likely
    if not seconds:
        return None
    longest = max(phases, key=lambda phase: phase.seconds.likely)
    share = longest.seconds.likely / seconds
    rank = _rank(longest, phases)
    sentence = f"{longest.name} ({longest.where}) takes {percent(share)} of the whole scan{rank}"
    advice = ADVICE.get(f"{longest.name} {longest.where}") or ADVICE[longest.name]
    if longest.name == PIPELINES and pipelines is not None:
        advice = pipelines.advice
    return ScanBottleneck(longest, share, sentence, advice)


def _rank(longest: Phase, phases: Sequence[Phase]) -> str:
    """Whether the bounds allow another phase to be the longest."""
    rivals = [one.name for one in phases if one is not longest and one.seconds.high > longest.seconds.low]
    return f"; within the bounds it may be {' or '.join(rivals)}" if rivals else ""
