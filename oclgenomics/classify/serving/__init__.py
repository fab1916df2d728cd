"""A server that keeps a database on the device and classifies reads that come over HTTP, and its client.

The server needs the extra `serve` (Starlette and uvicorn), the client does not.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from oclgenomics.lazy_names import found_in

if TYPE_CHECKING:
    from oclgenomics.classify.serving.answerer import IndexAnswerer
    from oclgenomics.classify.serving.client import Client, ServerBusyError, ServerError
    from oclgenomics.classify.serving.protocol import Limits
    from oclgenomics.classify.serving.server import Address, Server

__all__ = [
    "Address",
    "Client",
    "IndexAnswerer",
    "Limits",
    "Server",
    "ServerBusyError",
    "ServerError",
]

HOMES = {
    "Address": "server",
    "Client": "client",
    "IndexAnswerer": "answerer",
    "Limits": "protocol",
    "Server": "server",
    "ServerBusyError": "client",
    "ServerError": "client",
}

__getattr__, __dir__ = found_in(__name__, HOMES, __all__)
