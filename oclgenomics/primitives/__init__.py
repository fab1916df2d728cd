"""Scans, sorts and their like on the device, shared by the systems."""

from oclgenomics.primitives.scan import scan

__all__ = ["scan"]
