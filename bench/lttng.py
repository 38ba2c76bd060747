# SPDX-License-Identifier: Apache-2.0
"""LTTng-UST as the reference: a session daemon for the duration of the run, and sessions that count losses."""

import contextlib
import os
import re
import shutil
import subprocess
import time

from context import run

# Per CPU. From 256K to 16M this is the best size for LTTng: nothing is lost, and larger buffers exceed the caches.
CHANNEL = ["--discard", "--subbuf-size=1M", "--num-subbuf=16"]


class Lttng:
    """Sessions in a daemon that starts with the first session and ends with close()."""

    def __init__(self, context):
        self.folder = context.work / "lttng"
        self.environment = {**os.environ, "LTTNG_HOME": str(self.folder)}
        self.daemon = None
        self.why_not = None
        if not shutil.which("lttng-sessiond"):
            self.why_not = "lttng-tools is not installed"
        elif b"lttng_ust" not in context.program("cost").read_bytes():
            self.why_not = "liblttng-ust-dev was not installed when the programs were built"

    def _start(self):
        """Starts the daemon. If one is already running, ours exits at once and the other one serves."""
        if self.daemon:
            return
        self.folder.mkdir(exist_ok=True)
        self.daemon = subprocess.Popen(["lttng-sessiond", "--no-kernel"], env=self.environment,
                                       stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL,
                                       stderr=subprocess.DEVNULL)
        for _ in range(100):
            time.sleep(0.1)
            with contextlib.suppress(RuntimeError):
                self._command("list")
                return
        raise RuntimeError("lttng-sessiond does not start")

    def close(self):
        if self.daemon:
            self.daemon.terminate()
            self.daemon.wait()

    def _command(self, *words):
        return run(["lttng", *words], env=self.environment)

    @contextlib.contextmanager
    def session(self):
        """Records bench:instant to disk. Yields the session: count discards with discarded()."""
        self._start()
        output = self.folder / "trace"
        self._command("--no-sessiond", "create", "bench", f"--output={output}")
        try:
            self._command("enable-channel", "-u", "-s", "bench", *CHANNEL, "events")
            self._command("enable-event", "-u", "-s", "bench", "-c", "events", "bench:instant")
            self._command("start", "bench")
            yield self
        finally:
            self._command("destroy", "bench")
            shutil.rmtree(output, ignore_errors=True)

    def discarded(self):
        """Stops the session; returns how many events it lost."""
        self._command("stop", "bench")
        listing = self._command("--mi", "xml", "list", "bench")
        return sum(map(int, re.findall(r"<(?:discarded_events|lost_packets)>(\d+)<", listing)))
