"""Other programs that align raw signals, in turn with ours on the same reads and cores.

    python benchmarks/sdtw_peers.py [-d cpu] --reference FASTA [--prefix 2000] [--reads 32] [--repeat 3] [--json FILE]
                                    [--signals FILE --squigglefilter sdtw_analysis.ipynb --python PYTHON]
                                    [--blow5 FILE --sigfish PROGRAM [--truth FILE.paf]]

SquiggleFilter: the two functions of its notebook that normalise and align, run by a Python that has numba, a process
for each core; its imports and compilation are not counted. It gets the samples that ours gets, and levels of the same
model, laid out as it does: both strands in one track, and no level for the last six letters of each. Costs have to be
the same. Its prefix l reads sample number l, too, so it is asked for one less.

sigfish aligns the first 250 events of a read after the first 50, not samples; what its time is divided by are the
samples that it says these events have. Its time is that of the process. Ours, of the same file, is the time of
`Aligner.align` for the same mean number of samples, by default options. `--truth` is a PAF of the same reads by their
bases; a place is right where it is on the same strand and overlaps or is less than 100 bp away.

`samples/s a core` counts processor time instead of wall time, so other load does not matter much.
"""

from __future__ import annotations

import argparse
import os
import sys
import tempfile
from pathlib import Path
from typing import Any

from measure import machine, table, write_json
from sdtw_sigfish import compare_sigfish
from sdtw_squigglefilter import compare_squigglefilter

from oclgenomics.runtime import Engine, select_device


def arguments() -> argparse.Namespace:
    """The command line."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("-d", "--device", default="cpu")
    parser.add_argument("--reference", required=True, metavar="FASTA")
    parser.add_argument("--prefix", type=int, default=2000)
    parser.add_argument("--reads", type=int, default=32)
    parser.add_argument("--repeat", type=int, default=3)
    parser.add_argument("--signals", metavar="FILE")
    parser.add_argument("--squigglefilter", metavar="NOTEBOOK")
    parser.add_argument("--python", default=sys.executable)
    parser.add_argument("--blow5", metavar="FILE")
    parser.add_argument("--sigfish", metavar="PROGRAM")
    parser.add_argument("--truth", metavar="FILE.paf")
    parser.add_argument("--json", metavar="FILE")
    args = parser.parse_args()
    if not (args.squigglefilter and args.signals) and not (args.sigfish and args.blow5):
        parser.error("give --squigglefilter and --signals, or --sigfish and --blow5")
    return args


def main() -> int:
    """Compare what there is."""
    args = arguments()
    device = select_device(args.device)
    engine = Engine(device)
    record: dict[str, Any] = {"benchmark": "sdtw_peers", "machine": machine(device), "prefix": args.prefix}
    record |= {"reference": os.path.basename(args.reference), "repeat": args.repeat}
    if args.squigglefilter and args.signals:
        with tempfile.TemporaryDirectory() as folder:
            record["squigglefilter"] = compare_squigglefilter(args, engine, Path(folder))
        print(table(record["squigglefilter"]), "\nAll costs are SquiggleFilter's.\n", flush=True)
    if args.sigfish and args.blow5:
        record["sigfish"], record["places"] = compare_sigfish(args, engine)
        print(table(record["sigfish"]), flush=True)
        for shown in record["places"]:
            print(table([shown]))
    write_json(args.json, record)
    return 0


if __name__ == "__main__":
    sys.exit(main())
