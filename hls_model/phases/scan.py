"""All phases of a scan on a design, in the order in which they happen."""

from __future__ import annotations

from hls_model.config import Config
from hls_model.phases.blocks import layout_phases
from hls_model.phases.genotypes import genotype_phases
from hls_model.phases.matrix import matrix_phases
from hls_model.phases.omega import launch_phase, omega_phases, result_phase
from hls_model.phases.phase import Phase
from hls_model.ranges import Range
from hls_model.timing import Timing, simulate
from hls_model.timing.result import Level
from hls_model.workload import Workload

__all__ = ["phases_of", "scan_phases"]


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
    level : {'L0', 'L1', 'L2'}
        Of the pipelines' timing.
    all_pairs : bool
        LD of the square of the SNPs instead of the pairs that windows hold.

    Raises
    ------
    ModelError
        As for `hls_model.timing.simulate`; more samples than the LD engine counts.
    """
    return phases_of(simulate(workload, config, level), all_pairs=all_pairs)


def phases_of(timing: Timing, pipelines: Range | None = None, *, all_pairs: bool = False) -> tuple[Phase, ...]:
    """Return the phases of a scan whose pipelines are timed; `pipelines` gives bounds of their seconds."""
    workload, config = timing.workload, timing.config
    prepared = (*genotype_phases(workload, config, all_pairs=all_pairs), *matrix_phases(workload, config))
    if not workload.omegas:
        return prepared
    engines = sum(phase.where == "card" for phase in prepared)  # LD and M
    return (
        *prepared,
        launch_phase(timing, engines),
        *layout_phases(workload, config),
        *omega_phases(timing, pipelines or Range.exactly(timing.hardware_seconds)),
        result_phase(timing),
    )
