"""The self-test of one device: `python -m oclgenomics.selftest.device_test INDEX KEY SECONDS [IDIOM]`.

A broken compiler or driver may compute wrongly, abort or never return. So this is a process of its own, and nothing but
its exit status and what it has written so far is relied on: `{"idioms": [names]}`, then a line of JSON for each idiom,
`{"idiom": name, "wrong": text or null}`, and the device's traits in the end. With the name of an idiom nothing but that
one is built and run.
"""

from __future__ import annotations

import json
import os
import signal
import sys
from collections.abc import Sequence
from dataclasses import asdict
from typing import Any

from oclgenomics.runtime.trust import WAITING


def main(argv: Sequence[str]) -> int:
    """Run the idioms of the device with this number and key.

    Returns
    -------
    int
        0, also where idioms are wrong; 1 where there is no such device.
    """
    index, key, seconds, *only = argv
    limit_time(int(seconds))
    import siphash  # noqa: F401 - a missing package is reported before the device is blamed

    from oclgenomics.runtime.devices import list_devices
    from oclgenomics.runtime.traits import probe
    from oclgenomics.selftest.idioms import Trial, idioms_for

    devices = [device for device in list_devices() if device.index == int(index) and device.key == key]
    if not devices:
        sys.stderr.write(f"device {index} is not the one that was asked for\n")
        return 1
    idioms = idioms_for(devices[0])
    _say(idioms=[idiom.name for idiom in idioms])
    trial = Trial(devices[0], alone=bool(only))
    for idiom in idioms:
        if not only or idiom.name in only:
            _say(idiom=idiom.name, wrong=trial.run(idiom))
    if not only:
        _say(traits=asdict(probe(trial.context, trial.queue, trial.device)))
    return 0


def limit_time(seconds: int) -> None:
    """Let a signal end the process, even where a compiler never returns: after a time on a core, or a long wait.

    The time on cores is what counts, since on a busy machine a right answer takes long. Waiting threads may spin, so a
    second of each core comes on top.
    """
    for number in (signal.SIGPROF, signal.SIGALRM):
        signal.signal(number, signal.SIG_DFL)
    signal.setitimer(signal.ITIMER_PROF, seconds + (os.cpu_count() or 1))
    signal.alarm(WAITING * seconds)


def _say(**answer: Any) -> None:
    sys.stdout.write(json.dumps(answer) + "\n")
    sys.stdout.flush()


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
