"""Subsequence dynamic time warping on a systolic array: a design, its cycles, what it computes and what it takes."""

from hls_model.extras.sdtw.design import SystolicArray as SystolicArray
from hls_model.extras.sdtw.timing import ArrayTiming as ArrayTiming, time_read as time_read
