"""Live selection through published clients: messages of MinKNOW's data service over gRPC, on this machine.

    pip install minknow-api readfish
    python benchmarks/sdtw_read_until.py [-d cpu] [--channels 64] [--seconds 20]

A server with the service of `minknow_api` plays a flow cell (R9.4.1, 4 kHz). readfish's client of the Read Until API
gets its chunks, accumulates them, and sends the actions; `ReadUntilClassifier` decides. Decisions are compared with
those of `align` on whole reads, and unblocked reads with those that the server was asked to end. It prints JSON.
"""

from __future__ import annotations

import argparse
import json
import logging
import threading
import time
from collections import defaultdict
from concurrent import futures
from types import SimpleNamespace
from typing import Any

import grpc
import numpy as np
from minknow_api import data_pb2, data_pb2_grpc
from minknow_api.data_service import DataService
from readfish.read_until.base import ReadUntilClient
from readfish.read_until.read_cache import AccumulatingCache
from sdtw_live import SAMPLES, SEED, drawn_reads, genomes_of, model_named, squiggle_of, thresholds_of

from oclgenomics.runtime import Engine, select_device
from oclgenomics.sdtw import LiveOptions, ReadUntilClassifier, align
from oclgenomics.sdtw.live.flow_cell import FlowCell
from oclgenomics.sdtw.live.judging import OUTCOMES, Decided
from oclgenomics.sdtw.live.options import FlowCellOptions
from oclgenomics.sdtw.live.workers import RealClock

STRAND = 83  # a classification of chunks


class Server(data_pb2_grpc.DataServiceServicer):
    """Plays a flow cell to one stream of live reads."""

    def __init__(self, cell: FlowCell) -> None:
        self._cell, self._lock = cell, threading.Lock()
        self.ended: list[str] = []
        self.setup: Any = None

    def get_live_reads(self, requests: Any, context: Any) -> Any:
        responses: list[Any] = []
        thread = threading.Thread(target=self._take, args=(requests, responses), daemon=True)
        thread.start()
        while context.is_active() and self._cell.is_running:
            with self._lock:
                chunks = self._cell.get_read_chunks(self._cell.channel_count)
            message = data_pb2.GetLiveReadsResponse()
            for channel, chunk in chunks:
                read = message.channels[channel]
                read.id, read.start_sample = chunk.id, chunk.start_sample
                read.chunk_start_sample, read.chunk_length = chunk.chunk_start_sample, chunk.chunk_length
                read.raw_data = chunk.raw_data
                read.chunk_classifications.append(STRAND)
            message.action_responses.extend(responses[:])
            responses.clear()
            yield message
            time.sleep(0.1)

    def _take(self, requests: Any, responses: list[Any]) -> None:
        try:
            for request in requests:
                if request.WhichOneof("request") == "setup":
                    self.setup = request.setup
                    continue
                for action in request.actions.actions:
                    kind = action.WhichOneof("action")
                    with self._lock:
                        if kind == "unblock":
                            self.ended.append(action.id)
                            self._cell.unblock_read_batch([(action.channel, action.id)], action.unblock.duration)
                        else:
                            self._cell.stop_receiving_batch([(action.channel, action.id)])
                    responses.append(data_pb2.GetLiveReadsResponse.ActionResponse(action_id=action.action_id))
        except grpc.RpcError:
            pass  # the client is gone


class Client(ReadUntilClient):  # type: ignore[misc]
    """readfish's, but for what it asks a MinKNOW at its start."""

    def __init__(self, channel: grpc.Channel, channels: int) -> None:
        progress = SimpleNamespace(raw_per_channel=SimpleNamespace(acquired=0, processed=0))
        self.connection = SimpleNamespace(
            data=DataService(channel), acquisition=SimpleNamespace(get_progress=lambda: progress)
        )
        self.logger, self.CacheType, self.one_chunk, self.filter_strands = (
            logging.getLogger("ReadUntil"), AccumulatingCache, False, True)  # fmt: skip
        self.first_channel, self.last_channel, self.channel_count, self.cache_size = 1, channels, channels, channels
        self.strand_classes, self.prefilter_classes = {STRAND}, {"strand"}
        self.calibration, self.signal_dtype = data_pb2.GetLiveReadsRequest.UNCALIBRATED, np.dtype("<i2")
        self.calibration_values: dict[int, Any] = {}
        self.channel_read_latest_decision: Any = defaultdict(str)
        self._process_thread, self.running = None, threading.Event()
        self.reset()


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("-d", "--device", default="auto")
    parser.add_argument("--channels", type=int, default=64)
    parser.add_argument("--seconds", type=float, default=20.0)
    args = parser.parse_args()
    model = model_named("r9.4.1")
    genomes = genomes_of(30_000, 40, 160)
    reference, signals = squiggle_of(genomes[0], model), drawn_reads(genomes, model, SEED, SAMPLES)
    decided: list[tuple[str, str, int, float]] = []

    def keep(found: Decided) -> None:
        words = [OUTCOMES[outcome] for outcome in found.outcome.tolist()]
        decided.extend(zip(found.read.tolist(), words, found.stage.tolist(), found.score.tolist(), strict=True))

    with Engine(select_device(args.device)) as engine:
        thresholds = thresholds_of("r9.4.1", 2, model, reference, 30_000, engine)
        with ReadUntilClassifier(reference, thresholds, options=LiveOptions(trim=None), engine=engine) as classifier:
            cell = FlowCell(signals, np.zeros(len(signals), np.bool_), RealClock(),
                            FlowCellOptions(channels=args.channels, duration=args.seconds))  # fmt: skip
            service, server = Server(cell), grpc.server(futures.ThreadPoolExecutor(2))
            data_pb2_grpc.add_DataServiceServicer_to_server(service, server)
            port = server.add_insecure_port("127.0.0.1:0")
            server.start()
            with grpc.insecure_channel(f"127.0.0.1:{port}") as channel:
                client = Client(channel, args.channels)
                client.run(first_channel=1, last_channel=args.channels)
                while not client.is_running:
                    time.sleep(0.01)
                metrics = classifier.run(client, seconds=args.seconds, log_seconds=0, on_decided=keep)
                client.reset()
            server.stop(0)
        found = align(signals, reference, thresholds.options, prefixes=thresholds.prefixes, trim=None, engine=engine)
    place = {name: number for number, name in enumerate(signals.names.tolist())}
    judged = [(name, stage, score) for name, word, stage, score in decided if word in ("accept", "reject")]
    unlike = sum(found.cost[place[name.rsplit(".", 2)[0]], stage, 0] != score for name, stage, score in judged)
    rejected = {name for name, word, *_ in decided if word == "reject"}
    print(json.dumps({
        "decided": metrics.outcome_counts(), "verdicts": len(judged), "unlike": int(unlike),
        "malformed": metrics.malformed, "asked to end": len(service.ended),
        "ended but not rejected": len(set(service.ended) - rejected),
        "setup": str(service.setup).replace("\n", " "), "missed": cell.missed,
    }))  # fmt: skip


if __name__ == "__main__":
    main()
