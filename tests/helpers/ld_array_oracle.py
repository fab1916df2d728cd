"""The LD engine cycle by cycle: what is loaded, counted and drained in each, with no formula."""

from __future__ import annotations

from hls_model.ld import Engine

__all__ = ["cycles_of"]

BUFFERS = SETS = 2  # of words, and of accumulators


def cycles_of(engine: Engine, tiles: int) -> int:
    """Return the cycles until the last r2 is written."""
    if not tiles:
        return 0
    steps = tiles * engine.words
    waiting = engine.latency  # for the first data; later requests are out in time
    loading, loaded, counted = 0, 0, 0  # bytes of the step that is loaded; steps
    in_step = 0  # cycles of the step that is counted
    full, drained = 0, 0  # tiles counted and drained
    pairs = written = 0  # of the tile that is drained
    cycle = 0
    while drained < tiles:
        cycle += 1
        words_there = loaded  # what is loaded in this cycle can be counted in the next
        sets_full = full - drained
        can_drain = full > drained
        if waiting:
            waiting -= 1
        elif loaded < steps and loaded - counted < BUFFERS:
            loading += engine.port_bytes
            if loading >= 2 * engine.tile * engine.word_bytes:
                loading, loaded = 0, loaded + 1
        if counted < steps and words_there > counted and sets_full < SETS:
            in_step += 1
            if in_step == engine.rounds:
                in_step, counted = 0, counted + 1
                if counted % engine.words == 0:
                    full += 1
        if can_drain:
            pairs = min(pairs + engine.r2_units, engine.tile**2)
            written = min(written + engine.port_bytes, 4 * engine.tile**2)
            if pairs == engine.tile**2 and written == 4 * engine.tile**2:
                pairs, written, drained = 0, 0, drained + 1
    return cycle + engine.depth
