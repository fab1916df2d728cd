"""What bounds the omega pipelines, and what takes most of a whole scan, in a sentence each, and what would help."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

from hls_model.config import Config
from hls_model.phases.phase import Phase, total
from hls_model.phases.pipelines import PIPELINES
from hls_model.text import percent
from hls_model.timing import Timing


@dataclass(frozen=True)
class Bottleneck:
    """What takes most of the time.

    Attributes
    ----------
    word : str
        'lanes', 'memory', 'latency', 'prefetch', 'overhead', 'software' or 'host link'.
    share : float
        Its share of the seconds of the scan.
    sentence, advice : str
        The same in words, and what would help.
    """

    word: str
    share: float
    sentence: str
    advice: str


def find_bottleneck(timing: Timing) -> Bottleneck | None:
    """Return what bounds a timing; None where there is nothing to do."""
    if not timing.seconds:
        return None
    beside = {"software": timing.software_seconds, "host link": timing.transfer_seconds}
    slowest = max(beside, key=lambda name: beside[name])
    if beside[slowest] > timing.hardware_seconds:
        word, seconds = slowest, beside[slowest]
    else:
        cycles = {name: int(count.sum()) for name, count in timing.phases.items()}
        groups = {
            "lanes": cycles["stream"],
            "memory": cycles["stall"],
            "latency": cycles["fill"] + cycles["drain"],
            "prefetch": cycles["prefetch"],
            "overhead": cycles["merge"] + cycles["overhead"],
        }
        word = max(groups, key=lambda name: groups[name])
        seconds = groups[word] / sum(groups.values()) * timing.hardware_seconds  # kernels are at work side by side
    share = seconds / timing.seconds
    sentence, advice = WORDS[word](timing.config)
    return Bottleneck(word, share, f"{sentence} {percent(share)} of the time", advice)


def _latency(config: Config) -> tuple[str, str]:
    sentence = "the lanes fill and drain anew at every left border, which takes"
    if config.overlap_outer:
        return sentence, "longer right sides, or several positions at once"
    return sentence, "read the next column while this one runs (overlap_outer=true)"


def _prefetch(config: Config) -> tuple[str, str]:
    if config.rs_prefetch == "per_outer":
        return "RS is read anew for every column, which takes", "read it once per position (rs_prefetch=per_position)"
    return "reading RS into its buffer takes", "more left borders per position; wider ports"


WORDS: Mapping[str, Callable[[Config], tuple[str, str]]] = {
    "lanes": lambda config: ("the lanes compute at their rate for", "a larger unroll or a faster clock"),
    "memory": lambda config: ("the lanes wait for data for", "more or wider ports, or a bank for each"),
    "latency": _latency,
    "prefetch": _prefetch,
    "overhead": lambda config: (
        "what each grid position costs apart from its columns takes",
        "fewer, larger positions",
    ),
    "software": lambda config: (
        "software computes the remainder for",
        "mask the lanes of a last beat instead (remainder=masked), or a smaller unroll",
    ),
    "host link": lambda config: (
        "the host link is busy for",
        "keep M on the board and send new columns only (host_transfer=incremental)"
        if config.host_transfer == "full"
        else "a faster link, or M computed on the board (host_transfer=none)",
    ),
}


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
