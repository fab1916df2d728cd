"""Options of queries, and what they become with others."""

from __future__ import annotations

import json
import pickle
from dataclasses import asdict, replace

from oclgenomics.classify import QueryOptions


def test_what_nobody_asked_for_follows_the_other_options() -> None:
    usual = QueryOptions()
    assert usual.lowest == "species"
    assert repr(usual.lowest) == "'species'"
    assert replace(usual, maxcand=3).for_taxa(0).lowest == "sequence"  # as of QueryOptions(maxcand=3)
    assert replace(usual, hitmin=4) == QueryOptions(hitmin=4)
    assert replace(usual, hitmin=4).lowest == "sequence"
    asked = replace(usual, lowest="species")
    assert asked == usual
    assert replace(asked, maxcand=3).for_taxa(0).lowest == "species"
    assert pickle.loads(pickle.dumps(usual)).for_taxa(0).lowest == "sequence"
    assert json.dumps(asdict(usual)) == json.dumps(asdict(asked))
