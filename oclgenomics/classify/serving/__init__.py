"""A server that keeps a database on the device and classifies reads that come over HTTP, and its client.

The server needs the extra `serve` (Starlette and uvicorn), the client does not.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from oclgenomics.lazy_names import found_in

if TYPE_CHECKING:
    from oclgenomics.classify.serving.answerer import IndexAnswerer as IndexAnswerer
    from oclgenomics.classify.serving.client import *
    from oclgenomics.classify.serving.protocol import Limits as Limits
    from oclgenomics.classify.serving.server import *

__getattr__, __dir__, __all__ = found_in(
    __name__,
    {
        "answerer": "IndexAnswerer",
        "client": "Client ServerBusyError ServerError",
        "protocol": "Limits",
        "server": "Address Server",
    },
)
