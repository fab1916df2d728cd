"""Small inputs of every format, and ways to spoil them."""

from __future__ import annotations

import numpy as np

COLUMNS = "#CHROM\tPOS\tID\tREF\tALT\tQUAL\tFILTER\tINFO\tFORMAT\ta\tb\tc\n"
RECORDS = [
    "1\t5\t.\tA\tG\t.\tPASS\tAF=0.5\tGT\t0|1\t1|1\t0|0\n",
    "1\t6\t.\tA\tG,T\t.\t.\t.\tGT\t0|2\t1|.\t0/0\n",
    "1\t9\t.\tC\t*\t.\t.\tVT=SNP\tGT:DP\t0:3\t1|1:2\t.\n",
    "2\t1\t.\tT\tA\t.\tq\t.\tGT\t0|1\t1|1\t0|0\n",
    "2\t3\t.\tT\tA\t.\t.\tNS=3\tGT\t1|1\t1|1\t0|0\n",
]
INPUTS = {
    "vcf": "##fileformat=VCFv4.2\n" + COLUMNS + "".join(RECORDS),
    "ms": "ms 3 2\n1 2 3\n\n"
    + "//\nsegsites: 4\npositions: 0.1 0.2 0.3 0.4\n"
    + "0101\n1-N0\n" * 9
    + "\n//\nsegsites: 0\n",
    "macs": "COMMAND:\tx\nSITE:\t0\t0.1\t0.5\t0101\nSITE:\t1\t0.2\t0.5\t0-N1\nTOTAL_SITES:\t2\n",
    "fasta": ">a x\nACGT-\nNA\n>b\nACGTT\nAC\n>c\nAGGTR\nCC\n",
}
BYTES = np.frombuffer(b"\n\t\r \0|/.:,;=-01239ACGTN*<>#x\xff", np.uint8)


def damage(data: bytes, rng: np.random.Generator) -> bytes:
    """Some bytes changed, left out or doubled, or the end cut off."""
    out = bytearray(data)
    for _ in range(rng.integers(1, 4)):
        at, kind = int(rng.integers(0, max(1, len(out)))), rng.integers(0, 5)
        if kind == 0:
            out[at : at + 1] = bytes([rng.choice(BYTES)])
        elif kind == 1:
            del out[at : at + int(rng.integers(1, 12))]
        elif kind == 2:
            out[at:at] = out[at : at + int(rng.integers(1, 40))]
        elif kind == 3:
            out[at:at] = bytes([rng.choice(BYTES)])
        else:
            del out[at:]
    return bytes(out)
