"""Subsequence dynamic time warping on a systolic array: a design, its cycles, what it computes and what it takes."""

from hls_model.extras.sdtw.design import SystolicArray
from hls_model.extras.sdtw.timing import ArrayTiming, time_read

__all__ = ["ArrayTiming", "SystolicArray", "time_read"]
