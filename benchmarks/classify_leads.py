"""Leads of the best candidate other than the default, on the worlds of classify_accuracy.py.

    python benchmarks/classify_leads.py [-d cpu] [--worlds own:7011,tree:7411] [--leads 12/2,16/2,24/2,16/1,1000/1]
                                        [--kinds 75,150,2x150,5000] [--reads 6000] [--json FILE] [--quick]

A lead F/M is one hit and one more for every F features of a read, and M hits at least; the default is 16/2. Each row
has F1 of species and of genera, and how many reads are called a wrong species, and a species although theirs has no
reference.
"""

from __future__ import annotations

import argparse
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any
from unittest import mock

from classify_accuracy import Reads, simulated
from measure import machine, table, write_json

from oclgenomics.classify import Index, build, plan
from oclgenomics.classify.formats.truth import read_truth
from oclgenomics.classify.taxonomy.evaluation import evaluate
from oclgenomics.classify.taxonomy.ncbi import read_taxonomy
from oclgenomics.classify.taxonomy.tree import Taxonomy
from oclgenomics.runtime import Engine, select_device

WORLDS = "own:7011,genes:7111,tree:7411,own-near:7013,genes-near:7113,tree-near:7413"


def rows(args: argparse.Namespace, engine: Engine) -> Iterator[dict[str, Any]]:
    """Judge each lead on all reads of all worlds."""
    for world in args.worlds:
        with tempfile.TemporaryDirectory() as folder:
            sample = simulated(args, world, Path(folder))
            taxonomy = read_taxonomy(sample.taxonomy)
            database = build(sample.references, taxonomy=sample.taxonomy, engine=engine)
            with Index(database, engine=engine) as index:
                for reads in sample.reads:
                    for lead in args.leads:
                        yield {"set": world, "reads": reads.name, "lead": lead, **judged(index, reads, lead, taxonomy)}
        print(world, file=sys.stderr)


def judged(index: Index, reads: Reads, lead: str, taxonomy: Taxonomy) -> dict[str, Any]:
    """Classify reads with a lead, and compare the calls with the truth."""
    features, least = map(int, lead.split("/"))
    with mock.patch.multiple(plan, LEAD_FEATURES=features, MIN_LEAD=least):
        if len(reads.files) == 2:
            found = index.query([], paired=[(reads.files[0], reads.files[1])])
        else:
            found = index.query(reads.files)
    calls = {row["read"].removesuffix("/1"): row["taxid"] or 0 for row in found.records()}
    species, genus = evaluate(read_truth(reads.truth), calls, taxonomy, rounds=0).ranks
    wrong = {name: species.counts[name] for name in ("wrong", "false")}
    return {"species F1": species.f1.value, "genus F1": genus.f1.value, **wrong}


def main() -> None:
    """Print a table, and write the numbers."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    several: dict[str, Any] = {"type": lambda text: text.split(",")}
    parser.add_argument("-d", "--device", default="cpu")
    parser.add_argument("--worlds", default=WORLDS, **several)
    parser.add_argument("--leads", default="12/2,16/2,20/2,24/2,32/2,16/1,1000/1", **several)
    parser.add_argument("--kinds", default="75,150,2x150,5000", **several)
    parser.add_argument("--reads", type=int, default=6_000)
    parser.add_argument("--json", metavar="FILE")
    parser.add_argument("--quick", action="store_true", help="small worlds, to see that all works")
    args = parser.parse_args()
    with Engine(select_device(args.device)) as engine:
        found = list(rows(args, engine))
        print(table(found))
        write_json(args.json, machine(engine.device) | {"results": found})


if __name__ == "__main__":
    main()
