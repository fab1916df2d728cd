"""The server with a database: it answers as `query` does, and takes its options."""

from __future__ import annotations

import json
import os
import urllib.request
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest
from helpers.classify_databases import EDGE, edge_database
from helpers.classify_serving import PATIENCE

from oclgenomics.classify import Index, QueryOptions, Wanted, build
from oclgenomics.classify.database.file import write_database
from oclgenomics.classify.formats import FORMATS, NativeOptions
from oclgenomics.classify.serving.answerer import KINDS, SUMMARIES, IndexAnswerer, parse_query
from oclgenomics.classify.serving.client import Client
from oclgenomics.classify.serving.openapi import PARAMETERS, description
from oclgenomics.classify.serving.server import Address, Server
from oclgenomics.cli.main import main
from oclgenomics.errors import InputError, UsageError
from oclgenomics.runtime import Engine

READS = EDGE / "edge_reads.fa"


@pytest.fixture
def client(engine: Engine, tmp_path: Path) -> Iterator[Client]:
    @contextmanager
    def make() -> Iterator[IndexAnswerer]:
        with Index(edge_database(), engine=engine) as index:
            answerer = IndexAnswerer(index)
            answerer.warm_up(str(tmp_path))
            yield answerer

    with Server(Address(), make) as server, Client(server.address.url, timeout=PATIENCE) as client:
        yield client


def lines_about_reads(text: str) -> list[str]:
    return [line for line in text.splitlines() if not line.startswith("#")]


def test_answers_are_those_of_metacache(client: Client) -> None:
    for golden, parameters in (
        ("species", {"tophits": 1, "allhits": 1, "locations": 1, "queryids": "yes", "lowest": "species"}),
        ("default", {"tophits": True, "locations": True, "queryids": True}),
        ("hm1.mc6.hd50", {"hitmin": 1, "maxcand": 6, "hitdiff": 50, "tophits": "", "taxids": "", "lineage": ""}),
    ):
        found = client.classify(READS, **({"hitmin": 5, "lowest": "sequence", "repeats": 1} | parameters)).decode()
        expected = (EDGE / f"edge.query.{golden}.txt").read_text()
        assert lines_about_reads(found) == lines_about_reads(expected)
        assert "# sample\n" in found


def test_databases_without_taxonomy_call_sequences(engine: Engine) -> None:
    """By default; species are called where they are asked for, and there are none."""
    shown = {}
    with Index(build(EDGE / "edge_ref.fna", engine=engine), engine=engine) as index:
        for lowest in ("", "sequence", "species"):
            parameters = {"format": "tsv", **({"lowest": lowest} if lowest else {})}
            shown[lowest] = b"".join(IndexAnswerer(index).answer(str(READS), parse_query(parameters)))
    assert shown[""] == shown["sequence"]
    assert shown[""] != shown["species"]


def test_all_formats_are_those_of_the_command(client: Client, tmp_path: Path, engine: Engine) -> None:
    write_database(tmp_path / "db", edge_database())
    words = ["classify", "query", str(tmp_path / "db"), str(READS), "-q", "--device", str(engine.device.index)]
    for name in (name for name in FORMATS if name not in ("native", "cami")):
        assert main([*words, "--format", name, "-o", str(tmp_path / "out")]) == 0
        assert client.classify(READS, format=name) == (tmp_path / "out").read_bytes()
    for name in SUMMARIES:
        assert main([*words, f"--{name}", str(tmp_path / "out"), "--no-map", "-o", os.devnull]) == 0
        assert client.classify(READS, format=name, sample="edge_reads") == (tmp_path / "out").read_bytes()


def test_mates_that_follow_each_other(client: Client) -> None:
    reads = b">a\nACGTACGTACGTACGTACGT\n>a\nACGTACGTACGTACGTACGT\n"
    assert client.classify(reads, format="tsv").count(b"\n") == 3
    assert client.classify(reads, format="tsv", interleaved=True).count(b"\n") == 2
    with pytest.raises(InputError, match="the body, record 1: the mates of a pair have different names"):
        client.classify(reads.replace(b">a", b">b", 1), interleaved=True)


def test_reads_that_are_refused(client: Client) -> None:
    for reads, message in (
        (b"hello", "the body: is neither FASTA nor FASTQ"),
        (b"@a\nACGT\n+\nII\n", r"^the body, record 1"),
    ):
        with pytest.raises(InputError, match=message):
            client.classify(reads)
    assert client.info()["database"]["targets"] == 17
    assert client.health()["status"] == "ok"


def test_answers_that_nobody_takes_disturb_nothing(engine: Engine, tmp_path: Path) -> None:
    with Index(edge_database(), engine=engine) as index:
        answerer, query = IndexAnswerer(index), parse_query({"format": "json"})
        whole = b"".join(answerer.answer(str(READS), query))
        for taken in (0, 1, 2):
            pieces = answerer.answer(str(READS), query)
            assert all(next(pieces) is not None for _ in range(taken))
            pieces.close()
            assert b"".join(answerer.answer(str(READS), query)) == whole


# Parameters


def test_parameters() -> None:
    assert parse_query({}).options == QueryOptions()
    query = parse_query(
        {"hitmin": "3", "hitdiff": "80", "lowest": "species", "min-readlen": "50", "query_limit": "9", "tophits": "",
         "any-mates": "1", "separator": "\t", "allhits": "true", "queryids": "0", "sample": "x", "interleaved": "yes"}
    )  # fmt: skip
    assert query.options == QueryOptions(hitmin=3, hitdiff=0.8, lowest="species", min_readlen=50)
    assert query.native == NativeOptions(tophits=True, separator="\t", allhits=True)
    assert query.wanted == Wanted(False, True, True, 9)
    assert (query.format, query.sample, query.interleaved) == ("native", "x", True)
    assert parse_query({"format": "json"}).content_type == "application/x-ndjson"


@pytest.mark.parametrize(
    ("parameters", "message"),
    [
        ({"hitmax": "1"}, "'hitmax' is not known here"),
        ({"min-readlen": "1", "min_readlen": "1"}, "'min_readlen' is given twice"),
        ({"hitmin": "0"}, "hitmin=0: is 1 to"),
        ({"hitmin": "x" * 99}, "is no whole number"),
        ({"hitmin": "9" * 5000}, "is no whole number"),
        ({"maxcand": "\u0663"}, "is no whole number"),
        ({"hitdiff": "nan"}, "is no share"),
        ({"hitdiff": "-1"}, "is no share"),
        ({"lowest": "strain"}, "choose one of sequence"),
        ({"format": "xml"}, "choose one of native, kraken"),
        ({"format": "tsv", "tophits": "1"}, "has no use for parameters of native"),
        ({"tophits": "maybe"}, "is 1 or 0"),
        ({"comment": "a\nb"}, "is no line"),
        ({"sample": "a" * 101}, "is no line"),
        ({"query_limit": "0"}, "limit=0"),
    ],
)
def test_wrong_parameters(parameters: dict[str, str], message: str) -> None:
    with pytest.raises(UsageError, match=message) as caught:
        parse_query(parameters)
    assert len(str(caught.value)) < 300
    assert "\n" not in str(caught.value)


# Descriptions


def test_the_description_has_all_that_the_server_answers(client: Client) -> None:
    with urllib.request.urlopen(f"{client.url}/openapi.json", timeout=PATIENCE) as answer:
        found = json.load(answer)
    assert found == description()
    assert found["openapi"].startswith("3.1")
    with pytest.raises(InputError, match="there is nothing here; try ") as caught:
        client._json("/nothing")
    assert sorted(str(caught.value).split("try ")[1].split(", ")) == sorted(found["paths"])
    [operation] = found["paths"]["/classify"].values()
    assert [parameter["name"] for parameter in operation["parameters"]] == [*KINDS]
    assert set(PARAMETERS) <= set(KINDS)
    [formats] = [one["schema"]["enum"] for one in operation["parameters"] if one["name"] == "format"]
    assert formats == client.info()["formats"]
    for place, methods in found["paths"].items():
        for method, one in methods.items():
            assert one["operationId"].isidentifier()
            assert "200" in one["responses"], (place, method)
            for refused in set(one["responses"]) - {"200"}:
                reference = one["responses"][refused]["content"]["application/json"]["schema"]["$ref"]
                assert reference == "#/components/schemas/Refusal"
    for name, schema in (("/health", client.health()), ("/info", client.info())):
        said = found["paths"][name]["get"]["responses"]["200"]["content"]["application/json"]["schema"]
        assert sorted(said["required"]) == sorted(said["properties"]) == sorted(schema)


def test_the_docs_name_all_parameters_and_formats() -> None:
    page = (Path(__file__).parents[3] / "docs" / "classify-server.md").read_text()
    assert all(f"`{name}`" in page for name in (*KINDS, *FORMATS, *SUMMARIES))
