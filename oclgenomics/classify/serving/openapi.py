"""The description of all that the server answers, as OpenAPI 3.1 (JSON at /openapi.json)."""

from __future__ import annotations

from typing import Any

from oclgenomics import __version__
from oclgenomics.classify.formats import FORMATS, SUMMARIES
from oclgenomics.classify.options import RANKS
from oclgenomics.classify.serving.answerer import KINDS

JSON = "application/json"
BOOLEAN, INTEGER, NUMBER, TEXT = ({"type": kind} for kind in ("boolean", "integer", "number", "string"))
RANK = {"type": "string", "enum": list(RANKS)}
PARAMETERS: dict[str, tuple[str, dict[str, Any]]] = {
    "format": (
        "of the report: a line for each read, or of all reads together",
        {"enum": [*FORMATS, *SUMMARIES]} | TEXT,
    ),
    "interleaved": ("mates of a pair follow each other", BOOLEAN),
    "any_mates": ("mates of a pair may have different names", BOOLEAN),
    "sample": ("name of the sample, for formats that have one", TEXT),
    "query_limit": ("reads or pairs that are taken", INTEGER),
    "hitmin": ("hits that a read needs to be classified", INTEGER),
    "hitdiff": ("share, 0 to 1, of the best hits that other candidates need to count", NUMBER),
    "maxcand": ("candidates of a read at most", INTEGER),
    "lowest": ("lowest rank that reads are classified on", RANK),
    "highest": ("highest rank that reads are classified on", RANK),
    "insertsize": ("bp that the two mates of a pair span at most", INTEGER),
    "winstride": ("bp from a window of a read to the next one", INTEGER),
    "sketchlen": ("features of a window of a read at most", INTEGER),
    "repeats": ("count a feature as often as the read has it", BOOLEAN),
    "min_readlen": ("shorter reads, in bp, are not classified", INTEGER),
    "max_readlen": ("longer reads, in bp, are not classified", INTEGER),
    "cov_percentile": ("share, 0 to 1, of the coverage whose targets do not count", NUMBER),
}
HEALTH = {
    "type": "object",
    "required": ["status", "held", "answered"],
    "properties": {
        "status": {"enum": ["ok", "ending"]} | TEXT,
        "held": {"description": "requests that are answered, wait or are being received"} | INTEGER,
        "answered": {"description": "requests so far"} | INTEGER,
    },
}
INFO = {
    "type": "object",
    "required": ["version", "device", "formats", "database"],
    "properties": {"version": TEXT, "device": TEXT, "formats": {"type": "array", "items": TEXT},
                   "database": {"type": "object"}},
}  # fmt: skip
REFUSAL = {"type": "object", "required": ["error"], "properties": {"error": TEXT}}
REFUSALS = {
    400: "the reads or the parameters are wrong",
    403: "a browser sent it for a page of another site",
    404: "there is nothing of that name",
    405: "it takes another method",
    411: "there is no body",
    413: "the body is too large, compressed or not",
    415: "the body is compressed in a way that is not known",
    429: "too many requests are waiting; Retry-After says when to come again",
    500: "trouble of the server",
    503: "the server ends, or has too many connections",
}


def description() -> dict[str, Any]:
    """Return the description."""
    report = {"text/plain": TEXT, "text/tab-separated-values": TEXT, "application/x-ndjson": TEXT}
    return {
        "openapi": "3.1.0",
        "info": {
            "title": "oclgenomics classify serve",
            "version": __version__,
            "description": "Classifies reads by a database that is kept on the device, one request after the other.",
        },
        "paths": {
            "/classify": {
                "post": {
                    "operationId": "classify",
                    "summary": "Classify reads",
                    "parameters": [_parameter(name) for name in KINDS],
                    "requestBody": {
                        "required": True,
                        "description": "reads in FASTA or FASTQ, uncompressed or gzip",
                        "content": {"application/octet-stream": {"schema": {"type": "string", "format": "binary"}}},
                    },
                    "responses": _responses("the report, sent while it is made", report, *REFUSALS),
                }
            },
            "/health": _question("health", "Whether the server takes requests", {JSON: HEALTH}, 503),
            "/info": _question("info", "The database, the device and the formats", {JSON: INFO}),
            "/openapi.json": _question("openapi", "This description", {JSON: {"type": "object"}}),
            "/": _question("page", "A page for browsers", {"text/html": TEXT}),
            "/page.css": _question("style", "How the page looks", {"text/css": TEXT}),
            "/page.js": _question("script", "What the page does", {"text/javascript": TEXT}),
        },
        "components": {"schemas": {"Refusal": REFUSAL}},
    }


def _parameter(name: str) -> dict[str, Any]:
    said, schema = PARAMETERS.get(name, ("what lines of `native` show", TEXT))
    return {"name": name, "in": "query", "required": False, "description": said, "schema": schema}


def _question(name: str, summary: str, content: dict[str, Any], *refusals: int) -> dict[str, Any]:
    return {"get": {"operationId": name, "summary": summary, "responses": _responses(summary, content, *refusals)}}


def _responses(said: str, content: dict[str, Any], *refusals: int) -> dict[str, Any]:
    refused = {JSON: {"schema": {"$ref": "#/components/schemas/Refusal"}}}
    answer = {"description": said, "content": {kind: {"schema": schema} for kind, schema in content.items()}}
    return {"200": answer} | {str(status): {"description": REFUSALS[status], "content": refused} for status in refusals}
