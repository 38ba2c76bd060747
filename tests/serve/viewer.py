# SPDX-License-Identifier: Apache-2.0
"""Shared by the tests of the viewer's server: a server of a trace whose content does not matter, and requests to it,
over plain sockets where an HTTP library would be too polite."""

import contextlib
import http.client
import os
import pathlib
import re
import signal
import socket
import subprocess
import sys
import time

sys.path.insert(0, str(pathlib.Path(__file__).parent.parent / "live"))
import support  # noqa: E402

URL = re.compile(r"http://127\.0\.0\.1:(\d+)/([0-9a-f]{32})/\n")
IS_SANITIZED = bool(os.environ.get("SANITIZED"))
PATIENCE_S = 60  # with a busy machine; nothing that works takes as long on another


class Response:
    def __init__(self, response):
        self.status = response.status
        self.headers = response.headers
        self.body = response.read()


class Server:
    """`millrace view`, its address, and ways to ask it."""

    def __init__(self, *arguments, **keywords):
        self.process = subprocess.Popen([support.MILLRACE, "view", "--no-open", *arguments],
                                        stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, **keywords)
        self.line = self.process.stdout.readline()
        match = URL.fullmatch(self.line)
        if not match:
            raise AssertionError(f"no address, but {self.line!r} and {self.process.communicate()[1]!r}")
        self.port = int(match[1])
        self.token = match[2]
        self.root = f"/{self.token}/"

    def connect(self):
        return socket.create_connection(("127.0.0.1", self.port), timeout=PATIENCE_S)

    def ask(self, path="", method="GET", target=None, **headers):
        """Of a path below the token, or a target as it is."""
        connection = http.client.HTTPConnection("127.0.0.1", self.port, timeout=PATIENCE_S)
        with contextlib.closing(connection):
            connection.request(method, self.root + path if target is None else target,
                               headers={name.replace("_", "-"): value for name, value in headers.items()})
            return Response(connection.getresponse())

    def request(self, path="traces/0/progress", **headers):
        """A request as bytes."""
        headers = {"Host": f"127.0.0.1:{self.port}", **headers}
        lines = [f"GET {self.root}{path} HTTP/1.1", *(f"{name}: {value}" for name, value in headers.items())]
        return ("\r\n".join(lines) + "\r\n\r\n").encode()

    def status_of(self, data):
        """The status of the answer to these bytes; None if there is none."""
        with self.connect() as connection:
            with contextlib.suppress(OSError):
                connection.sendall(data)
                connection.shutdown(socket.SHUT_WR)
            with contextlib.suppress(ConnectionError):
                answer = connection.recv(4096)
                return int(answer.split()[1]) if answer else None
        return None

    def end(self, number=signal.SIGINT):
        """Exit status, what else was printed, what was said on stderr, and how long it took."""
        begin = time.monotonic()
        if self.process.poll() is None:
            self.process.send_signal(number)
        out, err = self.process.communicate(timeout=PATIENCE_S)
        return self.process.returncode, out, err, time.monotonic() - begin


class ServerTest(support.LiveTest):
    def setUp(self):
        super().setUp()
        self.servers = []
        self.addCleanup(self.end_servers)

    def simulate(self, name="trace.mill", *options):
        """The trace of a simulated program."""
        trace = self.path(name)
        result = support.run(os.path.join(support.BUILD, "tests/simulate"), "1", trace, *options, timeout=120)
        self.assertEqual(0, result.returncode, result.stderr)
        return trace

    def serve(self, *arguments, **keywords):
        """A server, which must end well at the end of the test."""
        server = Server(*(arguments or [self.simulate()]), **keywords)
        self.servers.append(server)
        return server

    def end_servers(self):
        for server in self.servers:
            if not server.process.stdout.closed:
                status, out, err, _ = server.end()
                self.assertEqual((0, "", ""), (status, out, err))

    def wait_until_loaded(self, server):
        self.assertTrue(support.wait_until(lambda: b'"ready"' in server.ask("traces/0/progress").body, PATIENCE_S))
