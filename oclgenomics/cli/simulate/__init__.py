"""`oclgenomics simulate`: seeded data for demonstrations, tests and benchmarks."""

from oclgenomics.cli.simulate.omega import add_parser

__all__ = ["add_parser"]
