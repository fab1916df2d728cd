"""What the hardware computes, bit for bit: omegas in float32, the lanes' maxima and their merge. No timing in here."""

from hls_model.functional.arithmetic import omegas
from hls_model.functional.maxima import Best
from hls_model.functional.position import Result, run
from hls_model.functional.sums import Sums

__all__ = ["Best", "Result", "Sums", "omegas", "run"]
