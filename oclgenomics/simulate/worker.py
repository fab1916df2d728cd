"""A process that draws replicates for another one: tasks come by standard input, what was drawn goes to its output.

It ends when its input does, in the middle of a task, too: then whoever wanted the replicates is gone.
"""

from __future__ import annotations

import os
import pickle
import queue
import signal
import struct
import sys
import threading
from typing import IO, Any

from oclgenomics.errors import OclGenomicsError

__all__ = ["SIZE", "serve"]

SIZE = struct.Struct("<Q")  # of the pickle that follows


def serve(tasks: IO[bytes], answers: IO[bytes]) -> None:
    """Draw what is asked for until nobody asks any more.

    Parameters
    ----------
    tasks : binary stream
        Pickles, each of an object with a method `draw`.
    answers : binary stream
        Gets a pickle of (what was drawn, None) or (None, an error) for each, after its size.
    """
    waiting: queue.SimpleQueue[Any] = queue.SimpleQueue()
    threading.Thread(target=_take, args=(tasks, waiting), daemon=True).start()
    while True:
        answer = _draw(waiting.get())
        answers.write(SIZE.pack(len(answer)))
        answers.write(answer)
        answers.flush()


def _take(tasks: IO[bytes], waiting: queue.SimpleQueue[Any]) -> None:
    try:
        while True:
            waiting.put(pickle.load(tasks))
    except (EOFError, OSError, pickle.UnpicklingError):  # the other process is gone, perhaps in the middle of a task
        os._exit(0)
    except BaseException:  # it is no task; nobody would be told, and the other process would wait for ever
        os._exit(1)


def _draw(task: Any) -> bytes:
    try:
        return pickle.dumps((task.draw(), None), protocol=5)
    except (OclGenomicsError, MemoryError) as error:
        return pickle.dumps((None, error), protocol=5)
    except Exception as error:  # classes of other packages need not be known to the other process
        return pickle.dumps((None, RuntimeError(f"{type(error).__name__}: {error}")), protocol=5)


if __name__ == "__main__":
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    try:
        serve(sys.stdin.buffer, sys.stdout.buffer)
    except BrokenPipeError:
        os._exit(0)
