"""Genomics workloads on any OpenCL device: GPUs and CPUs, from Python or the command line."""

__version__ = "0.1.0"

__all__ = ["__version__"]
