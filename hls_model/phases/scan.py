"""All phases of a scan on a design, in the order in which they happen, and the stretches in which it is done.

M takes 4 bytes for each pair of SNPs that some window holds, in the place of r2. Next to it lie the genotypes, where
the card computes LD, and a copy of the block of every position under way, where blocks are copied. A scan of which that
does not fit is cut into stretches of neighbouring grid positions, each as long as fits. A stretch is a scan of its own:
what its windows share with those of the stretch before is sent, counted and added up again.

Where the host builds M, the card keeps the windows of a position and of the next one, or the blocks that are sent.
"""

from __future__ import annotations

from bisect import bisect_right
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from hls_model.choices import Level
from hls_model.config import WORD_BITS, Config
from hls_model.errors import ModelError
from hls_model.phases.phase import Phase, added
from hls_model.phases.pipelines import largest_block, launch_phase, layout_phases, omega_phases, result_phase
from hls_model.phases.preparation import genotype_phases, matrix_phases
from hls_model.phases.rates import SHARED_LEFT, host_of
from hls_model.ranges import Range
from hls_model.text import bytes_text, percent
from hls_model.timing import Timing, simulate
from hls_model.workload import Workload

WORD = WORD_BITS // 8
MOST_STRETCHES = 1_000  # of a scan; in more, nearly all of M would be built again and again


@dataclass(frozen=True)
class CardMemory:
    """A scan in the card's memory.

    Attributes
    ----------
    capacity : int
        Bytes that the banks of the design hold for it.
    needed : int
        Bytes of the whole scan at once.
    stretches : tuple of Workload
        The scan itself where it fits; else its stretches in order.
    """

    capacity: int
    needed: int
    stretches: tuple[Workload, ...]

    @property
    def pairs(self) -> int:
        """Pairs of SNPs of all stretches, those counted twice that two of them hold."""
        return sum(one.window_pairs for one in self.stretches)

    def record(self) -> dict[str, int]:
        """Return the sizes for JSON."""
        return {
            "capacity_bytes": self.capacity,
            "needed_bytes": self.needed,
            "stretches": len(self.stretches),
            "pairs": self.pairs,
        }


def card_memory(workload: Workload, config: Config, *, all_pairs: bool = False) -> CardMemory:
    """Return what a scan keeps in the memory of a design's card, cut into stretches where that does not fit.

    Raises
    ------
    ModelError
        A single window does not fit, r2 of all pairs does not, or there would be more than `MOST_STRETCHES`.
    """
    capacity = _capacity(config)
    on_card = config.ld == "card" and workload.samples > 0
    genotypes = -(-workload.samples // config.ld_word_bits) * config.ld_word_bits // 8 if on_card else 0
    blocks = _blocks(workload, config)
    held = genotypes * workload.snps
    if config.host_transfer != "none":
        kept = max(blocks + _windows_held(workload, config), held)
        if kept > capacity:
            raise ModelError(_refusal(workload, config, capacity, kept))
        return CardMemory(capacity, kept, (workload,))
    every = all_pairs and on_card
    needed = WORD * (workload.ld_scores if every else workload.window_pairs) + held + blocks
    if needed <= capacity:
        return CardMemory(capacity, needed, (workload,))
    if every:
        raise ModelError(
            f"r2 of all pairs of {workload.snps:,} SNPs takes {bytes_text(needed)} with the other data on the card; "
            f"{_room(config, capacity)}: count the pairs that windows hold (leave out all_pairs), or take ld=published"
        )
    return CardMemory(capacity, needed, _in_stretches(workload, config, capacity, genotypes, blocks))


def _capacity(config: Config) -> int:
    board = config.hardware
    share = SHARED_LEFT if host_of(board).embedded else 1.0
    return int(board.bytes_of(config.memory.banks) * share)


def _blocks(workload: Workload, config: Config) -> int:
    """Bytes of the copies of blocks that lie in memory at a time; none where columns are read from M itself."""
    if config.host_transfer != "full" and config.layout == "shifted" and config.lane_map != "blocked":
        return 0
    ahead = 2 if config.host_transfer == "full" and config.host_overlap else 1  # the next one is sent meanwhile
    return ahead * config.kernels * config.positions_in_flight * largest_block(workload, config)


def _windows_held(workload: Workload, config: Config) -> int:
    """Bytes of M that lie in memory at a time where the host sends each element once: two neighbouring windows."""
    if config.host_transfer == "full":
        return 0
    own, new = _pairs(workload)
    return WORD * int((own[:-1] + new[1:]).max(initial=own.max(initial=0)))


def _pairs(workload: Workload) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Pairs of each window, and those of them that the window before does not hold; of positions that have one."""
    has = workload.left * workload.right > 0
    first, last = workload.first[has], workload.last[has]
    span = last - first + 1
    own = span * (span - 1) // 2
    shared = np.zeros_like(own)
    shared[1:] = np.maximum(last[:-1] - first[1:] + 1, 0)
    return own, own - shared * (shared - 1) // 2


def _in_stretches(
    workload: Workload, config: Config, capacity: int, genotypes: int, blocks: int
) -> tuple[Workload, ...]:
    """Cut a scan into stretches that fit, each as long as possible."""
    places = np.flatnonzero(workload.left * workload.right > 0)
    own, new = _pairs(workload)
    before = np.cumsum(new)
    first, last = workload.first[places], workload.last[places]
    stretches: list[Workload] = []
    start = 0

    def size(stop: int) -> int:
        """Bytes of the stretch from `start` to `stop`, the latter included."""
        pairs = int(own[start] + before[stop] - before[start])
        return WORD * pairs + genotypes * int(last[stop] - first[start] + 1) + blocks

    while start < len(places):
        stop = bisect_right(range(len(places)), capacity, lo=start, key=size)
        if stop == start:
            raise ModelError(_refusal(workload, config, capacity, size(start)))
        if len(stretches) == MOST_STRETCHES:
            raise ModelError(
                f"M of all windows does not fit, and would be built in more than {MOST_STRETCHES:,} stretches; "
                f"{_room(config, capacity)}: take a smaller maxwin{_more_banks(config)}"
            )
        stretches.append(workload.stretch(int(places[start]), int(places[stop - 1]) + 1))
        start = stop
    return tuple(stretches)


def _refusal(workload: Workload, config: Config, capacity: int, needed: int) -> str:
    widest = int((workload.last - workload.first)[workload.left * workload.right > 0].max(initial=0)) + 1
    return (
        f"a window has up to {widest:,} SNPs, and {bytes_text(needed)} have to lie in the card's memory at a time; "
        f"{_room(config, capacity)}: take a smaller maxwin{_more_banks(config)}"
    )


def _room(config: Config, capacity: int) -> str:
    shared = f", {percent(SHARED_LEFT)} of them" if host_of(config.hardware).embedded else ""
    return f"memory.banks={config.memory.banks} of {config.name} hold {bytes_text(capacity)}{shared}"


def _more_banks(config: Config) -> str:
    board = config.hardware
    return f", or more banks ({board.name} has {board.banks})" if config.memory.banks < board.banks else ""


ONCE = ("host", "elsewhere")  # packing and the published accelerator, whose results lie in the host's memory


def scan_phases(
    workload: Workload, config: Config, level: Level = "L1", *, all_pairs: bool = False
) -> tuple[Phase, ...]:
    """Return the phases of a scan, from genotypes in the host's memory to maxima there.

    Phases follow each other unless `Phase.beside` says otherwise: the paper times LD and the pipelines, each by itself,
    and says nothing of the rest. `software_overlap` and `host_overlap` put software's omegas and what the host and its
    link do for them during the pipelines.

    Parameters
    ----------
    workload : Workload
        Its samples, where known, give packing, sending and LD.
    config : Config
    level : {'L1', 'L2'}
        Of the pipelines' timing.
    all_pairs : bool
        LD of the square of the SNPs instead of the pairs that windows hold.

    Raises
    ------
    ModelError
        As for `hls_model.timing.simulate`; more samples than the LD engine counts; a window that the card's memory
        does not hold.
    """
    return phases_of(simulate(workload, config, level), all_pairs=all_pairs)


def phases_of(timing: Timing, pipelines: Range | None = None, *, all_pairs: bool = False) -> tuple[Phase, ...]:
    """Return the phases of a scan whose pipelines are timed; `pipelines` gives bounds of their seconds.

    Raises
    ------
    ModelError
        A window that the card's memory does not hold.
    """
    workload, config = timing.workload, timing.config
    memory = card_memory(workload, config, all_pairs=all_pairs)
    prepared = _prepared(memory, workload, config, all_pairs=all_pairs)
    if not workload.omegas:
        return prepared
    stretches = len(memory.stretches)
    engines = stretches * sum(phase.where == "card" for phase in prepared)  # LD and M
    return (
        *prepared,
        launch_phase(timing, engines, stretches),
        *layout_phases(workload, config),
        *omega_phases(timing, _cut(timing, pipelines or Range.exactly(timing.hardware_seconds), stretches)),
        result_phase(timing),
    )


def _prepared(memory: CardMemory, workload: Workload, config: Config, *, all_pairs: bool) -> tuple[Phase, ...]:
    """The phases up to a complete M; in stretches, those of each of them, after what is done once."""
    if len(memory.stretches) == 1:
        return (*genotype_phases(workload, config, all_pairs=all_pairs), *matrix_phases(workload, config))
    once = [one for one in genotype_phases(workload, config, all_pairs=all_pairs) if one.where in ONCE]
    again = added(_of_stretch(stretch, config) for stretch in memory.stretches)
    said = f"In {len(memory.stretches):,} stretches, as the card's memory is too small; what they share is done again."
    return (*once, *(replace(phase, assumptions=(*phase.assumptions, said)) for phase in again))


def _of_stretch(stretch: Workload, config: Config) -> list[Phase]:
    """What is done for each stretch: all but packing, and LD on the published accelerator."""
    genotypes = genotype_phases(stretch, config, all_pairs=False)
    return [*(phase for phase in genotypes if phase.where not in ONCE), *matrix_phases(stretch, config)]


def _cut(timing: Timing, pipelines: Range, stretches: int) -> Range:
    """The pipelines' seconds where positions of different stretches do not run at the same time."""
    config = timing.config
    if stretches == 1 or config.kernels == config.positions_in_flight == 1:
        return pipelines
    longest = int(timing.position_cycles.max()) / (config.clock_mhz * 1e6)
    return pipelines + Range(0.0, 0.0, (stretches - 1) * longest * pipelines.high / max(pipelines.likely, 1e-30))
