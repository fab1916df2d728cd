"""How fast the reads of a BAM, CRAM or SAM file become FASTQ, and how fast samtools writes the same text to a pipe.

python benchmarks/aligned_reads.py FILE
"""

from __future__ import annotations

import subprocess
import sys
import time

from oclgenomics.io.source import Source
from oclgenomics.sequence.aligned_reads import fastq_converter

RUNS = 2


def main(path: str) -> None:
    """Read a file in turn with both."""
    for _ in range(RUNS):
        start = time.perf_counter()
        with Source(path, converter=fastq_converter(path)) as source:
            size = sum(map(len, source))
        print(f"oclgenomics: {size / 1e6 / (time.perf_counter() - start):.0f} MB/s")
        start = time.perf_counter()
        with subprocess.Popen(["samtools", "fastq", path], stdout=subprocess.PIPE, stderr=subprocess.DEVNULL) as other:
            assert other.stdout is not None
            while other.stdout.read(1 << 20):
                pass
        print(f"samtools fastq: {size / 1e6 / (time.perf_counter() - start):.0f} MB/s")


if __name__ == "__main__":
    main(sys.argv[1])
