#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
# runs beside others: a busy machine is allowed for by seconds, and CPU time is compared with CPU time
"""The life of the viewer's server: many clients, bad ones, the trace going away, signals, the loading."""

import concurrent.futures
import contextlib
import gzip
import http.client
import json
import os
import pathlib
import pty
import re
import resource
import select
import shutil
import signal
import socket
import stat
import subprocess
import threading
import time

import harness
import viewer
from viewer import Server, ServerTest, support

AT_ONCE_S = 15  # on a busy machine; who waits for a silent client waits for a minute
QUICK_S = 0.5   # what takes longer shows progress
LOADING_S = 240


def late_failure(path):
    """A file that is found to be no trace only when all of it is read."""
    numbers = ",".join(str(i * 7919 % 1_000_003) for i in range(150_000))  # what shrinks too well is refused
    members = gzip.compress(f'"a":[{numbers}],'.encode())
    repeats = 400 if viewer.IS_SANITIZED else 1600
    pathlib.Path(path).write_bytes(gzip.compress(b"{") + members * repeats + gzip.compress(b'"end":1}'))


def long_trace(path, repeats=20 if viewer.IS_SANITIZED else 200):
    """A file that takes a while to load."""
    events = ",".join(f'{{"ph":"X","name":"n{i % 99}","ts":{i},"dur":1,"pid":1,"tid":{i % 7}}}' for i in range(20_000))
    pathlib.Path(path).write_bytes(gzip.compress(b"[") + gzip.compress((events + ",").encode()) * repeats +
                                   gzip.compress((events + "]").encode()))


class Clients(ServerTest):
    def test_200_at_once(self):
        server = self.serve()
        self.wait_until_loaded(server)
        page = server.ask("").body
        together = threading.Barrier(200)

        def client(number):
            """Each has a connection of its own, and all have it at the same time."""
            connection = server.connect()
            with contextlib.closing(connection):
                together.wait(viewer.PATIENCE_S)
                stream = connection.makefile("rb")
                for path in ["", "traces/0/progress", f"nothing{number}", "traces/0/nothing", ""]:
                    connection.sendall(server.request(path))
                    yield path, self.read_response(stream)

        with concurrent.futures.ThreadPoolExecutor(200) as pool:
            for answers in pool.map(lambda number: list(client(number)), range(200)):
                self.assertEqual(5, len(answers))
                for path, (status, body) in answers:
                    if path == "":
                        self.assertEqual((200, page), (status, body))
                    elif path == "traces/0/progress":
                        self.assertEqual((200, "ready"), (status, json.loads(body)["state"]))
                    else:
                        self.assertEqual(404, status)

    @staticmethod
    def read_response(stream):
        status = int(stream.readline().split()[1])
        length = 0
        while (line := stream.readline().strip()):
            if line.startswith(b"Content-Length: "):
                length = int(line.split()[1])
        return status, stream.read(length)

    def test_more_connections_than_are_served(self):
        """Those that have shown the token are never disconnected: others are turned away until there is room."""
        server = self.serve()
        with contextlib.ExitStack() as stack:
            for _ in range(512):
                connection = stack.enter_context(server.connect())
                connection.sendall(server.request())
                self.assertEqual(200, self.read_response(connection.makefile("rb"))[0])
            with self.assertRaises((ConnectionError, http.client.HTTPException)):
                server.ask("traces/0/progress")
        self.assertTrue(support.wait_until(lambda: self.is_served(server), viewer.PATIENCE_S))

    @staticmethod
    def is_served(server):
        with contextlib.suppress(ConnectionError, http.client.HTTPException):
            return server.ask("traces/0/progress").status == 200
        return False

    def test_silent_connections_keep_nobody_out(self):
        """Whoever does not show the token can neither lock the owner out nor end a connection of the owner's."""
        server = self.serve()
        parts = [b"", b"GET / HTTP/1.1\r\nHost: ", server.request()[:-2], b"GET /wrong HTTP/1.1\r\n\r\n"]
        with contextlib.ExitStack() as stack:
            owner = stack.enter_context(server.connect())
            stream = owner.makefile("rb")
            owner.sendall(server.request())
            self.assertEqual(200, self.read_response(stream)[0])
            for i in range(1500):
                connection = stack.enter_context(server.connect())
                with contextlib.suppress(ConnectionError):
                    connection.sendall(parts[i % len(parts)])
                if i % 100 == 0:
                    self.assertEqual(200, server.ask("traces/0/progress").status)
            self.assertEqual(200, server.ask("traces/0/progress").status)
            owner.sendall(server.request())
            self.assertEqual(200, self.read_response(stream)[0])
        threads = pathlib.Path(f"/proc/{server.process.pid}/task")
        self.assertTrue(support.wait_until(lambda: len(list(threads.iterdir())) < 10, viewer.PATIENCE_S))

    def test_clients_that_never_read(self):
        """They ask for more than the sockets hold. Nobody else notices, and neither does the end."""
        server = self.serve()
        with contextlib.ExitStack() as stack:
            for _ in range(20):
                connection = stack.enter_context(server.connect())
                connection.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
                connection.setblocking(False)
                with contextlib.suppress(BlockingIOError):
                    while True:
                        connection.send(server.request("index.html"))
            for _ in range(50):
                begin = time.monotonic()
                self.assertEqual(200, server.ask("").status)
                self.assertLess(time.monotonic() - begin, AT_ONCE_S)
            status, _, err, seconds = server.end()
        self.assertEqual((0, ""), (status, err))
        self.assertLess(seconds, AT_ONCE_S)

    def test_clients_that_go_away(self):
        server = self.serve()
        for i in range(200):
            connection = server.connect()
            data = server.request()
            connection.sendall(data[:len(data) * i // 200])
            if i % 2:  # with a reset
                connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, b"\1\0\0\0\0\0\0\0")
            connection.close()
        self.assertEqual(200, server.ask("").status)
        threads = pathlib.Path(f"/proc/{server.process.pid}/task")
        self.assertTrue(support.wait_until(lambda: len(list(threads.iterdir())) < 10, viewer.PATIENCE_S))

    def test_memory_does_not_grow(self):
        """A sanitizer keeps what is freed for a while; it finds leaks itself."""
        server = self.serve()
        self.wait_until_loaded(server)
        allowed_kb = 400_000 if viewer.IS_SANITIZED else 2000

        def resident_kb():
            status = pathlib.Path(f"/proc/{server.process.pid}/status").read_text()
            return int(re.search(r"RssAnon:\s+(\d+)", status)[1])

        def ask(count):
            with server.connect() as connection:
                stream = connection.makefile("rb")
                for i in range(count):
                    connection.sendall(server.request("traces/0/progress?" + "x" * (i % 1000)))
                    self.read_response(stream)

        ask(500)
        before = resident_kb()
        ask(3000)
        self.assertLess(resident_kb() - before, allowed_kb)


class Ends(ServerTest):
    def test_signals_end_it_quietly(self):
        trace = self.simulate()
        for number in [signal.SIGINT, signal.SIGTERM, signal.SIGHUP]:
            # Whoever runs the tests may ignore it, as nohup does.
            server = self.serve(trace, preexec_fn=lambda which=number: signal.signal(which, signal.SIG_DFL))
            idle = server.connect()
            idle.sendall(server.request())
            idle.recv(10)
            status, out, err, seconds = server.end(number)
            self.assertEqual((0, "", ""), (status, out, err), number)
            self.assertLess(seconds, AT_ONCE_S)
            idle.close()
            self.serve(trace, "--port", str(server.port)).end()

    def test_nohup(self):
        server = self.serve(preexec_fn=lambda: signal.signal(signal.SIGHUP, signal.SIG_IGN))
        server.process.send_signal(signal.SIGHUP)
        time.sleep(0.3)
        self.assertEqual(200, server.ask("").status)

    def test_port_in_use(self):
        trace = self.simulate()
        server = self.serve(trace)
        result = support.run(support.MILLRACE, "view", "--no-open", "--port", str(server.port), trace)
        self.assertEqual((1, ""), (result.returncode, result.stdout))
        self.assertEqual(f"millrace: port {server.port} is in use: choose another, or omit --port to get any "
                         "free port\n", result.stderr)

    def test_an_address_can_be_kept(self):
        trace, kept = self.simulate(), pathlib.Path(self.path("token"))
        first = self.serve("--token-file", str(kept), trace)
        self.assertEqual(0o600, kept.stat().st_mode & 0o777)
        self.assertEqual(first.token + "\n", kept.read_text())
        first.end()
        second = self.serve("--port", str(first.port), "--token-file", str(kept), trace)
        self.assertEqual(first.line, second.line)
        self.assertEqual(200, second.ask("").status)
        self.assertEqual(403, second.ask(target=f"/{'0' * 32}/").status)

    def test_a_file_that_keeps_no_token_safely_is_rejected(self):
        trace, kept = self.simulate(), pathlib.Path(self.path("token"))
        token = "0123456789abcdef0123456789abcdef"

        def check(text, mode, words):
            kept.unlink(missing_ok=True)
            kept.write_text(text)
            kept.chmod(mode)
            result = support.run(support.MILLRACE, "view", "--no-open", "--token-file", kept, trace)
            self.assertEqual((1, ""), (result.returncode, result.stdout), text)
            self.assertRegex(result.stderr, words)
            self.assertEqual(text, kept.read_text())

        check(token, 0o644, "others could read or change .*chmod 600")
        check(token, 0o620, "others could read or change")
        for text in ("", token[:-1], token + "0", token + "\nx", "g" + token[1:], "/" * 32):
            check(text, 0o600, "does not contain a token of 32 hexadecimal digits: delete it")
        for path, words in ((self.path(""), "not a regular file"), (self.path("none/token"), "cannot create"),
                            (self.link(kept), "cannot read")):
            result = support.run(support.MILLRACE, "view", "--no-open", "--token-file", path, trace)
            self.assertEqual((1, ""), (result.returncode, result.stdout), path)
            self.assertRegex(result.stderr, words)

    def link(self, target):
        link = pathlib.Path(self.path("link"))
        link.symlink_to(target)
        return link

    def test_several_servers(self):
        first, second = self.serve(self.simulate("a.mill")), self.serve(self.simulate("b.mill"))
        self.assertNotEqual(first.port, second.port)
        self.assertEqual(403, first.ask(target=second.root).status)
        for server in [first, second]:
            self.assertEqual(200, server.ask("").status)
        first.end()
        self.assertEqual(200, second.ask("").status)

    def test_wrong_usage(self):
        for arguments in [["--port", "65536"], ["--port", "-1"], ["--port", "x"], ["a", "b"]]:
            result = support.run(support.MILLRACE, "view", *arguments)
            self.assertEqual((2, ""), (result.returncode, result.stdout), arguments)


class Traces(ServerTest):
    def test_the_newest_trace_is_the_default(self):
        self.simulate()
        server = Server(cwd=self.folder)
        self.servers.append(server)
        self.assertEqual(200, server.ask("").status)

    def test_no_trace(self):
        for arguments in [["none.mill"], [], [self.folder], ["/dev/null"]]:
            status, err = self.fail_at_once(arguments)
            self.assertEqual(1, status, arguments)
            self.assertRegex(err, r"^millrace: .+\n$")

    def fail_at_once(self, arguments):
        """Exit status and stderr; again, while it was held up for so long that it serves a page that says why."""
        for _ in range(50):
            process = subprocess.Popen([support.MILLRACE, "view", "--no-open", *arguments], cwd=self.folder,
                                       stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
            is_served = process.stdout.readline() != ""
            if is_served:
                process.send_signal(signal.SIGINT)
            _, err = process.communicate(timeout=viewer.PATIENCE_S)
            if not is_served:
                return process.returncode, err
        return self.fail("it never fails at once")

    def test_deleted_while_viewed(self):
        trace = self.simulate()
        server = self.serve(trace)
        self.wait_until_loaded(server)
        before = server.ask("traces/0/trace")
        shutil.rmtree(trace)
        after = server.ask("traces/0/trace")
        self.assertEqual((before.status, before.body), (after.status, after.body))

    def test_cut_while_viewed(self):
        """What was mapped is gone: whoever asks for it is told, and the server lives on."""
        trace = self.simulate()
        server = self.serve(trace)
        self.wait_until_loaded(server)
        for file in pathlib.Path(trace).rglob("*"):
            if file.is_file():
                os.truncate(file, 0)
        self.assertIn(server.ask("traces/0/trace").status, (200, 500))
        self.assertEqual(200, server.ask("traces/0/progress").status)

    def test_asked_while_it_loads(self):
        path = self.path("long.json.gz")
        long_trace(path)
        server = self.serve(path)
        answers = [(server.ask("traces/0/progress"), server.ask("traces/0/trace"))]
        self.assertEqual(200, server.ask("").status)
        while json.loads(answers[-1][0].body)["state"] == "loading":
            time.sleep(0.05)
            answers.append((server.ask("traces/0/progress"), server.ask("traces/0/trace")))
        states = [json.loads(progress.body) for progress, _ in answers]
        self.assertEqual("loading", states[0]["state"])
        self.assertEqual("ready", states[-1]["state"])
        reading = [state for state in states if state["what"] == "reading the file"]
        self.assertEqual(sorted(state["done"] for state in reading), [state["done"] for state in reading])
        for state in reading:
            self.assertEqual(os.path.getsize(path), state["total"])
        self.assertEqual(503, answers[0][1].status)
        self.assertEqual({"error": "the trace is being loaded"}, json.loads(answers[0][1].body))

    def test_ended_while_it_loads(self):
        """It does not finish that first: that would take far more CPU time."""
        long_trace(self.path("long.json.gz"), repeats=100 if viewer.IS_SANITIZED else 200)
        whole = self.cpu_seconds(lambda: support.run(support.MILLRACE, "info", self.path("long.json.gz"),
                                                     timeout=LOADING_S))

        def end_early():
            server = self.serve(self.path("long.json.gz"))
            self.assertIn(b'"loading"', server.ask("traces/0/progress").body)
            status, _, err, _ = server.end()
            self.assertEqual((0, ""), (status, err))

        self.assertLess(self.cpu_seconds(end_early), whole / 2)

    @staticmethod
    def cpu_seconds(run_and_wait):
        """CPU time of the processes that a function has run."""
        before = resource.getrusage(resource.RUSAGE_CHILDREN)
        run_and_wait()
        after = resource.getrusage(resource.RUSAGE_CHILDREN)
        return after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime

    def test_failing_to_load(self):
        """The page shows it, stderr tells it, the exit status too."""
        late_failure(self.path("late.json.gz"))
        server = Server(self.path("late.json.gz"))
        self.assertTrue(support.wait_until(lambda: b'"failed"' in server.ask("traces/0/progress").body, LOADING_S))
        cause = f"{self.path('late.json.gz')}: not a trace: it has no list of traceEvents"
        self.assertEqual(cause, json.loads(server.ask("traces/0/progress").body)["error"])
        self.assertEqual(200, server.ask("").status)
        answer = server.ask("traces/0/trace")
        self.assertEqual((503, {"error": "the trace cannot be loaded: " + cause}),
                         (answer.status, json.loads(answer.body)))
        status, out, err, _ = server.end()
        self.assertEqual((1, "", f"millrace: {cause}\n"), (status, out, err))


class Terminal(ServerTest):
    """What a person sees, on a terminal, and the browser."""

    def run_on_terminal(self, arguments, is_enough=lambda text: False, **environment):
        """Everything printed until it ends, or is interrupted when that is enough."""
        environment = {**os.environ, "TERM": "xterm", **environment}
        for name in ["BROWSER", "DISPLAY", "WAYLAND_DISPLAY"]:
            if name not in environment or environment[name] is None:
                environment.pop(name, None)
        ours, theirs = pty.openpty()
        process = subprocess.Popen([support.MILLRACE, *arguments], stdin=theirs, stdout=theirs, stderr=theirs,
                                   env=environment)
        os.close(theirs)
        text, end, is_interrupted = b"", time.monotonic() + LOADING_S, False
        while time.monotonic() < end:
            if not is_interrupted and is_enough(text.decode()):
                process.send_signal(signal.SIGINT)
                is_interrupted = True
            if not select.select([ours], [], [], 0.05)[0]:
                continue
            try:
                text += os.read(ours, 65536)
            except OSError:
                break
        else:
            process.kill()
        os.close(ours)
        return process.wait(viewer.PATIENCE_S), text.decode()

    @staticmethod
    def is_hinted(text):
        return "millrace: Ctrl-C ends the viewer\r\n" in text

    def browser(self, text):
        path = pathlib.Path(self.path("browser"))
        path.write_text(f"#!/bin/sh\n{text}\n")
        path.chmod(path.stat().st_mode | stat.S_IXUSR)
        return str(path)

    def test_hints(self):
        status, text = self.run_on_terminal(["view", self.simulate()], self.is_hinted, BROWSER=None, DISPLAY=None,
                                            WAYLAND_DISPLAY=None)
        self.assertEqual(0, status)
        self.assertTrue(self.is_hinted(text), text)
        self.assertIn("millrace: no browser was opened: there is no display\r\n", text)

    def test_the_browser_is_opened_and_left_alone(self):
        opened = self.path("opened")
        browser = self.browser(f'echo "$1"; echo noise >&2; grep SigBlk /proc/self/status >{opened}.signals\n'
                               f'echo "$@" >{opened}.new; mv {opened}.new {opened}')
        status, text = self.run_on_terminal(["view", self.simulate()], lambda text: os.path.exists(opened),
                                            BROWSER=browser)
        self.assertEqual(0, status)
        url = re.search(r"http://\S+/", text)[0]
        self.assertEqual(url, pathlib.Path(opened).read_text().strip())
        self.assertNotIn("noise", text)
        self.assertEqual(1, text.count(url))
        self.assertIn("SigBlk:\t0000000000000000", pathlib.Path(opened + ".signals").read_text())

    def test_no_open(self):
        opened = self.path("opened")
        browser = self.browser(f"touch {opened}")

        def is_enough(text):
            if "http://" in text:
                time.sleep(1)  # in which a browser would be there
            return "http://" in text

        self.run_on_terminal(["view", "--no-open", self.simulate()], is_enough, BROWSER=browser)
        self.assertFalse(os.path.exists(opened))

    def test_a_browser_that_is_not_there(self):
        _, text = self.run_on_terminal(["view", self.simulate()], self.is_hinted, BROWSER="/does/not/exist")
        self.assertIn("no browser was opened: cannot run /does/not/exist: No such file or directory", text)

    def test_progress_is_shown_and_erased(self):
        long_trace(self.path("long.json.gz"))
        _, text = self.run_on_terminal(["info", self.path("long.json.gz")])
        self.assertRegex(text, r"\r\x1b\[Kmillrace: (reading the file|looking through the events) \d+%")
        progress, _, rest = text.rpartition("\r\x1b[K")
        self.assertTrue(rest.startswith("trace  "), rest[:100])
        self.assertNotIn("Trace health", progress)

    def test_no_progress_where_it_is_quick_or_nobody_looks(self):
        self.assertNotIn("\x1b[K", self.run_quickly(["info", self.simulate()]))
        long_trace(self.path("long.json.gz"))
        _, text = self.run_on_terminal(["info", self.path("long.json.gz")], TERM="dumb")
        self.assertNotIn("\r\x1b", text)
        result = support.run(support.MILLRACE, "info", self.path("long.json.gz"), timeout=LOADING_S)
        self.assertEqual("", result.stderr)

    def run_quickly(self, arguments):
        """What is printed; again, until nothing held it up for so long that it may have shown progress."""
        for _ in range(50):
            begin = time.monotonic()
            _, text = self.run_on_terminal(arguments)
            if time.monotonic() - begin < QUICK_S:
                return text
        return self.fail("it is never quick")


if __name__ == "__main__":
    harness.main()
