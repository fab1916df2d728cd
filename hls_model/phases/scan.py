"""All phases of a scan on a design, in the order in which they happen."""

from __future__ import annotations

from dataclasses import replace

from hls_model.config import Config
from hls_model.phases.blocks import layout_phases
from hls_model.phases.genotypes import genotype_phases
from hls_model.phases.matrix import matrix_phases
from hls_model.phases.omega import launch_phase, omega_phases, result_phase
from hls_model.phases.phase import Phase, added
from hls_model.phases.stretches import CardMemory, card_memory
from hls_model.ranges import Range
from hls_model.timing import Timing, simulate
from hls_model.timing.result import Level
from hls_model.workload import Workload

__all__ = ["phases_of", "scan_phases"]

ONCE = ("host", "elsewhere")  # packing and the published accelerator, whose results lie in the host's memory


def scan_phases(
    workload: Workload, config: Config, level: Level = "L1", *, all_pairs: bool = False
) -> tuple[Phase, ...]:
    """Return the phases of a scan, from genotypes in the host's memory to maxima there.

    Phases follow each other unless `Phase.beside` says otherwise: the paper times LD and the pipelines, each by itself,
    and says nothing of the rest. `software_overlap` and `host_overlap` put software's omegas and what the host and its
    link do for them beside the pipelines.

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
    """The pipelines' seconds where positions of different stretches do not run beside each other."""
    config = timing.config
    if stretches == 1 or config.kernels == config.positions_in_flight == 1:
        return pipelines
    longest = int(timing.position_cycles.max()) / (config.clock_mhz * 1e6)
    return pipelines + Range(0.0, 0.0, (stretches - 1) * longest * pipelines.high / max(pipelines.likely, 1e-30))
