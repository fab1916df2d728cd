"""From genotypes to r2: packing, the way to the card, and LD there or on the published accelerator."""

from __future__ import annotations

from hls_model.config import Config
from hls_model.ld import time_ld
from hls_model.phases.assumed import host_of
from hls_model.phases.memory import HOST_LINK, bank_seconds, link_seconds, slower
from hls_model.phases.phase import Phase
from hls_model.ranges import Range
from hls_model.workload import Workload

__all__ = ["genotype_phases"]

PACKED = "Genotypes are bits without missing states, filled up to words; a mask of missing ones would double them."


def genotype_phases(workload: Workload, config: Config, *, all_pairs: bool) -> tuple[Phase, ...]:
    """Return the phases up to r2; none where the samples are not known or no pair is needed."""
    pairs = workload.ld_scores if all_pairs else workload.window_pairs
    if not workload.samples or not pairs:
        return ()
    if config.ld == "published":
        return (_published(workload, config, pairs),)
    return (*_to_card(workload, config), _on_card(workload, config, pairs, all_pairs=all_pairs))


def _to_card(workload: Workload, config: Config) -> tuple[Phase, Phase]:
    genotypes = workload.snps * workload.samples
    words = -(-workload.samples // config.ld_word_bits)
    sent = workload.snps * words * config.ld_word_bits // 8
    host = host_of(config.hardware)
    rate = host.pack_gbps
    packing = Range(*(genotypes / (gbps * 1e9) for gbps in (rate.high, rate.likely, rate.low)))
    return (
        Phase(
            "pack genotypes", "host", packing, genotypes + sent, genotypes, "genotypes",
            (f"Assumed: {rate.low:g} to {rate.high:g} GB/s, {host.note}.", PACKED),
        ),
        Phase("send genotypes", "link", link_seconds(config, sent), sent, 0, "", (HOST_LINK, PACKED)),
    )  # fmt: skip


def _on_card(workload: Workload, config: Config, pairs: int, *, all_pairs: bool) -> Phase:
    found = time_ld(workload, config, all_pairs=all_pairs)
    hertz, moved = config.clock_mhz * 1e6, found.bytes_read + found.bytes_written
    published = pairs * workload.samples / config.ld_bits_per_s
    cycles = Range(found.cycles / hertz, found.cycles / hertz, max(found.serial_cycles / hertz, published))
    return Phase(
        "LD", "card", slower(cycles, bank_seconds(config, moved)), moved, pairs, "pairs",
        (
            f"The engine of hls_model.ld with {config.ld_units} units of {config.ld_word_bits} bit, bound by its "
            f"{found.bound}; no such engine was built, and its clock is that of the design (assumed).",
            "At most: it finishes each tile before it loads the next one, and is no faster than the accelerator that "
            f"was built and published ({config.ld_bits_per_s:g} genotype bits a second, ld_bits_per_s).",
            PACKED,
        ),
        unbuilt="an array of population counters; at most as slow as the published accelerator, "
        f"{config.ld_bits_per_s:g} genotype bits a second",
    )  # fmt: skip


def _published(workload: Workload, config: Config, pairs: int) -> Phase:
    return Phase(
        "LD", "elsewhere", Range.exactly(pairs * workload.samples / config.ld_bits_per_s), 0, pairs, "pairs",
        (
            f"{config.ld_bits_per_s:g} genotype bits a second: Table III of the paper, which takes LD from Bozikas et "
            "al. (FPGA, four Virtex-6 LX760 of a Convey HC-2ex) and says that this partially underestimates the time "
            "to access SNPs in memory.",
            "How genotypes reach that platform and r2 leaves it is not counted.",
        ),
    )  # fmt: skip
