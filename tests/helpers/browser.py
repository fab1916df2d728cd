"""A Chromium without a window, driven through its debugging pipe."""

from __future__ import annotations

import base64
import contextlib
import fcntl
import json
import os
import shutil
import subprocess
import sys
from collections.abc import Iterator, Mapping
from pathlib import Path
from types import TracebackType
from typing import Any

import pytest

__all__ = ["Browser"]

START = "import os, sys; [os.dup2(int(sys.argv[n]), n + 2) for n in (1, 2)]; os.execv(sys.argv[3], sys.argv[3:])"
NAMES = ("chromium", "chromium-browser", "google-chrome", "chrome")
FLAGS = (
    "--headless", "--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage", "--no-first-run", "--hide-scrollbars",
    "--disable-background-networking", "--disable-component-update", "--disable-sync", "--disable-extensions",
    "--remote-debugging-pipe",
)  # fmt: skip
SECONDS = 120.0  # for a script of a page


class Browser:
    """One page; a context manager. The test is skipped where Chromium is not installed.

    Attributes
    ----------
    troubles : list of str
        Errors of scripts, requests that were not allowed, and what else the page's console has complained of.
    """

    def __init__(self, folder: Path) -> None:
        program = next(filter(None, map(shutil.which, NAMES)), None)
        if program is None:
            pytest.skip("Chromium is not installed")
        read, self._to = os.pipe()
        self._from, write = os.pipe()
        ends = [fcntl.fcntl(end, fcntl.F_DUPFD, 10) for end in (read, write)]
        words = [sys.executable, "-c", START, *map(str, ends), program, *FLAGS, f"--user-data-dir={folder}"]
        with open(folder / "messages", "wb") as messages:
            self._process = subprocess.Popen(words, pass_fds=ends, stdout=messages, stderr=messages)
        for end in (read, write, *ends):
            os.close(end)
        self._number, self._rest, self._session = 0, b"", ""
        self.troubles: list[str] = []
        target = self.send("Target.createTarget", url="about:blank")["targetId"]
        self._session = self.send("Target.attachToTarget", targetId=target, flatten=True)["sessionId"]
        for domain in ("Page", "Runtime", "Log", "DOM"):
            self.send(f"{domain}.enable")

    def __enter__(self) -> Browser:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        with contextlib.suppress(OSError):
            self.send("Browser.close", session=False)
        os.close(self._to)
        os.close(self._from)
        try:
            self._process.wait(60)
        except subprocess.TimeoutExpired:
            self._process.kill()
            self._process.wait()

    def send(self, method: str, *, session: bool = True, **parameters: Any) -> Any:
        """Give an order and return what comes of it."""
        self._number += 1
        order: dict[str, Any] = {"id": self._number, "method": method, "params": parameters}
        if session and self._session:
            order["sessionId"] = self._session
        os.write(self._to, json.dumps(order).encode() + b"\0")
        for message in self._messages():
            self._note(message)
            if message.get("id") == self._number:
                assert "error" not in message, message
                return message["result"]
        raise OSError("the browser has ended")

    def open(self, url: str, width: int = 1280, height: int = 900) -> None:
        """Open a page and wait for it."""
        self.send("Emulation.setDeviceMetricsOverride", width=width, height=height, deviceScaleFactor=1, mobile=False)
        self.send("Page.navigate", url=url)
        self.wait("document.readyState === 'complete' && location.href !== 'about:blank'")

    def run(self, script: str) -> Any:
        """Return the value of an expression; a promise is waited for."""
        found = self.send("Runtime.evaluate", expression=script, awaitPromise=True, returnByValue=True)
        assert "exceptionDetails" not in found, found["exceptionDetails"]
        return found["result"].get("value")

    def wait(self, condition: str) -> None:
        """Wait until an expression is true."""
        script = f"""new Promise((resolve) => {{
            const until = performance.now() + {1000 * SECONDS};
            const look = () => {condition} ? resolve(true)
                : performance.now() > until ? resolve(false) : setTimeout(look, 20);
            look();
        }})"""
        assert self.run(script), f"{condition} never was true: {self.troubles}"

    def choose(self, selector: str, path: Path) -> None:
        """Choose a file in an input."""
        root = self.send("DOM.getDocument")["root"]["nodeId"]
        node = self.send("DOM.querySelector", nodeId=root, selector=selector)["nodeId"]
        self.send("DOM.setFileInputFiles", nodeId=node, files=[str(path)])

    def picture(self, path: Path, *, whole: bool = False) -> None:
        """Write a PNG of what the page shows, or of all of it."""
        found = self.send("Page.captureScreenshot", format="png", captureBeyondViewport=whole)
        path.write_bytes(base64.b64decode(found["data"]))

    def _messages(self) -> Iterator[Mapping[str, Any]]:
        while True:
            while b"\0" in self._rest:
                text, self._rest = self._rest.split(b"\0", 1)
                yield json.loads(text)
            if not (piece := os.read(self._from, 1 << 16)):
                return
            self._rest += piece

    def _note(self, message: Mapping[str, Any]) -> None:
        told = message.get("params", {})
        if message.get("method") == "Runtime.exceptionThrown":
            self.troubles.append(json.dumps(told["exceptionDetails"]))
        if message.get("method") == "Log.entryAdded" and told["entry"]["level"] in ("error", "warning"):
            self.troubles.append(told["entry"]["text"])
