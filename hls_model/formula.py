"""The pipeline's cycles in one line, to reason with: what a column costs besides its beats, and where 90 % is reached.

With nb beats a column, II cycles a beat, a memory latency of M cycles, a depth D and Z cycles of the state machine,

    cycles of a position = (M + nb + 1)  +  left (nb II + C)  +  lanes       C = M + D + Z + 1 - II
                           RS prefetch      columns              merge

and where columns overlap, C is paid once: left nb II + C. That holds to the cycle where memory brings a beat of words
in each cycle, requests hide the latency, and a column fits the RS buffer (`holds`). It is never too much; the events of
level L1 know all else.
"""

from __future__ import annotations

from dataclasses import dataclass

from hls_model.config import Config


@dataclass(frozen=True)
class Formula:
    """The formula of a design.

    Attributes
    ----------
    config : Config
    """

    config: Config

    @property
    def overhead(self) -> int:
        """C, cycles that a column costs on top of the intervals of its beats."""
        config = self.config
        return config.latency + config.depth + config.fsm_cycles + 1 - config.ii

    def beats(self, right: int) -> int:
        """Return nb, the beats of right-side iterations; those of the remainder are software's or masked."""
        config = self.config
        inside = right if config.remainder == "masked" else right - right % config.unroll
        return -(-inside // config.lanes)

    def holds(self, left: int, right: int) -> bool:
        """Whether the formula gives the cycles of a position exactly; otherwise they are at least as many."""
        config, memory = self.config, self.config.memory
        beats = self.beats(right)
        length = memory.burst_length
        joined = left if config.overlap_outer else 1
        bursts = joined * -(-beats // length)
        shortest = length if joined == 1 else beats % length or length  # burst of a column, its last one
        return (
            memory.dram == "none"
            and config.pace == 1
            and not (memory.burst_gap or memory.random_gap_percent or memory.random_stall_percent)
            and config.issues_per_beat == config.beats_per_issue == 1
            and (config.rs_prefetch == "none" or beats * config.lanes <= config.rs_buffer_words)
            and memory.fifo_beats > 1
            and (bursts <= memory.outstanding or config.latency <= (memory.outstanding - 1) * shortest)
        )

    def cycles(self, left: int, right: int) -> int:
        """Return the cycles of a position, in tiles where it is longer than the RS buffer; 0 without a full beat."""
        config, beats = self.config, self.beats(right)
        if not left or not beats:
            return 0
        most = beats if config.rs_prefetch == "none" else config.rs_buffer_words // config.lanes
        tiles, rest = divmod(beats, most)
        return tiles * self._tile(left, most) + (self._tile(left, rest) if rest else 0) + config.lanes

    def _tile(self, left: int, beats: int) -> int:
        config = self.config
        prefetches = {"per_position": 1, "per_outer": left, "none": 0}[config.rs_prefetch]
        columns = left * beats * config.ii + self.overhead * (1 if config.overlap_outer else left)
        return prefetches * (config.latency + beats + 1) + columns

    def rate(self, right: int) -> float:
        """Return the scores per second of a column whose iterations are whole beats: f N / (N II / P + C)."""
        config = self.config
        overhead = 0 if config.overlap_outer else self.overhead
        return config.clock_mhz * 1e6 * right / (right * config.ii / config.lanes + overhead)

    def right_for(self, share: float) -> float:
        """Return the right-side iterations at which a column has a share of the lanes' own rate; 0.9 asks for 9 P C."""
        config = self.config
        overhead = 0 if config.overlap_outer else self.overhead
        return share / (1 - share) * config.lanes * overhead / config.ii
