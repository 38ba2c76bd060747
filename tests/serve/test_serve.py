#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""The viewer's server: who may send requests, how it answers, and that it reveals nothing else."""

import hashlib
import json
import os
import pathlib
import re
import socket

import harness
from viewer import ServerTest

UI = pathlib.Path(os.environ["SOURCE_DIR"]) / "ui"
TYPES = {".html": "text/html; charset=utf-8", ".css": "text/css; charset=utf-8",
         ".js": "text/javascript; charset=utf-8", ".svg": "image/svg+xml"}
FILES = ["index.html", "icon.svg", "viewer.js", "viewer.css", "report.js", "report.css"]
MAX_BYTES = 400_000
SAFETY = {
    "X-Content-Type-Options": "nosniff",
    "Referrer-Policy": "no-referrer",
    "Cross-Origin-Resource-Policy": "same-origin",
}


def code_of(module):
    """What a module is in a script that holds several: what follows its imports, without comments, tabs before a line
    and `export`."""
    without_comments = re.sub(r"^\s*/\*(?:(?!\*/).)*\*/\n", "", module, flags=re.M | re.S)
    behind_imports = re.split(r"^import\b[^;]*;\n", without_comments, flags=re.M)[-1]
    return re.sub(r"^(?:export |\t+)", "", behind_imports, flags=re.M)


class Access(ServerTest):
    """Whoever does not know the token, or came by another name, sees nothing."""

    def test_wrong_tokens(self):
        server = self.serve()
        token = server.token
        changed = [token[:i] + ("0" if token[i] != "0" else "1") + token[i + 1:] for i in (0, 15, 31)]
        for wrong in ["", *changed, token[:-1], token + "0", token.upper() + "x", "0" * 32, "%" + token, "a" * 4000]:
            for path in ["", "index.html", "traces/0/progress", "traces/0/trace"]:
                answer = server.ask(target=f"/{wrong}/{path}")
                self.assertEqual(403, answer.status, wrong)
                self.assertIn(b"open the one that `millrace view` has printed", answer.body)
        for target in ["/", "/favicon.ico", "/index.html", "/traces/0/progress", f"//{token}/", f"/x/{token}/"]:
            self.assertEqual(403, server.ask(target=target).status, target)

    def test_tokens_differ(self):
        trace = self.simulate()
        tokens = {self.serve(trace).token for _ in range(4)}
        self.assertEqual(4, len(tokens))

    def test_other_names_are_refused(self):
        """A foreign name may lead to this address (DNS rebinding)."""
        server = self.serve()
        port = server.port
        for host in ["evil.example", f"evil.example:{port}", "127.0.0.1", "localhost", f"127.0.0.1:{port + 1}",
                     f"127.0.0.1:{port}.evil.example", f"127.0.0.1.evil.example:{port}", f"[::1]:{port}", "",
                     f"0.0.0.0:{port}", f"127.0.0.2:{port}", "x" * 1000]:
            for path in ["", "traces/0/progress"]:
                self.assertEqual(421, server.ask(path, Host=host).status, host)
        for host in [f"127.0.0.1:{port}", f"localhost:{port}", f"LOCALHOST:{port}"]:
            self.assertEqual(200, server.ask(Host=host).status, host)
        without = f"GET {server.root} HTTP/1.0\r\n\r\n".encode()
        self.assertEqual(421, server.status_of(without))

    def test_it_listens_on_this_machine_alone(self):
        server = self.serve()
        inode = re.compile(rf" ([0-9A-F]+):{server.port:04X} 00000000:0000 0A ")
        listening = [match[1] for table in ("tcp", "tcp6")
                     for match in inode.finditer(pathlib.Path("/proc/net", table).read_text())]
        self.assertEqual(["0100007F"], listening)

    def test_other_sites_may_not_ask(self):
        server = self.serve()
        for site in ["cross-site", "same-site", "surprise"]:
            self.assertEqual(403, server.ask("traces/0/progress", Sec_Fetch_Site=site).status)
        for site in ["same-origin", "none"]:
            self.assertEqual(200, server.ask("traces/0/progress", Sec_Fetch_Site=site).status)

    def test_nothing_outside_is_reached(self):
        server = self.serve()
        secret = pathlib.Path(self.path("secret.js"))
        secret.write_text("secret")
        up = "/".join([".."] * 12)
        for path in [f"{up}/etc/passwd", f"{up}{secret}", "../" * 3 + "etc/passwd", "..%2f" * 12 + "etc%2fpasswd",
                     "%2e%2e/" * 12 + "etc/passwd", "%252e%252e%252fetc/passwd", "..\\..\\etc\\passwd",
                     "....//....//etc/passwd", "/etc/passwd", "//etc/passwd", str(secret), f"file://{secret}",
                     ".", "./index.html", "x/../index.html", "index.html/", "INDEX.HTML", "manifest.json",
                     "ctf/metadata", "traces", "traces/", "traces/0", "traces/0/", "traces/0/../index.html",
                     "traces/0/trace/x", "traces/1/trace", "traces/00/trace", "traces/-1/trace", "traces//trace", "index.html%00.js"]:
            answer = server.ask(path)
            self.assertIn(answer.status, (400, 404), path)
            self.assertNotIn(b"root:", answer.body)
            self.assertNotIn(b"secret\n", answer.body)


class Answers(ServerTest):
    def check_safety(self, answer):
        for name, value in SAFETY.items():
            self.assertEqual(value, answer.headers[name])
        policy = answer.headers["Content-Security-Policy"]
        self.assertTrue(policy.startswith("default-src 'none'; script-src 'self'; "))
        self.assertNotIn("unsafe", policy)

    def test_the_page_is_all_of_ui(self):
        server = self.serve()
        sent = {}
        for name in FILES:
            answer = server.ask(name)
            self.assertEqual(200, answer.status)
            self.assertEqual(TYPES[pathlib.PurePath(name).suffix], answer.headers["Content-Type"])
            self.check_safety(answer)
            sent[name] = answer.body.decode()
        self.assertLessEqual(sum(len(text.encode()) for text in sent.values()), MAX_BYTES)
        self.assertEqual((UI / "index.html").read_text(), sent["index.html"])
        self.assertEqual(sent["index.html"], server.ask("").body.decode())
        self.assertEqual((UI / "icon.svg").read_text(), sent["icon.svg"])
        for sheet in UI.rglob("*.css"):
            self.assertIn(sheet.read_text(), sent["viewer.css"], sheet)
        for module in UI.rglob("*.js"):
            bundle = sent["report.js" if module.name == "report.js" else "viewer.js"]
            self.assertIn(code_of(module.read_text()), bundle, module)

    def test_nothing_else_of_ui_is_sent(self):
        server = self.serve()
        for other in UI.rglob("*"):
            if other.is_file() and other.name not in FILES:
                self.assertEqual(404, server.ask(str(other.relative_to(UI))).status, other)

    def test_what_the_browser_has_is_not_sent_again(self):
        server = self.serve()
        first = server.ask("index.html")
        self.assertEqual(f'"{hashlib.sha256(first.body).hexdigest()[:16]}"', first.headers["ETag"])
        again = server.ask("index.html", If_None_Match=first.headers["ETag"])
        self.assertEqual((304, b""), (again.status, again.body))
        self.assertEqual(first.headers["ETag"], again.headers["ETag"])
        other = server.ask("index.html", If_None_Match='"0123456789abcdef"')
        self.assertEqual((200, first.body), (other.status, other.body))

    def test_without_the_slash_it_leads_to_the_page(self):
        server = self.serve()
        answer = server.ask(target=f"/{server.token}")
        self.assertEqual((302, server.root), (answer.status, answer.headers["Location"]))

    def test_progress(self):
        server = self.serve()
        self.wait_until_loaded(server)
        answer = server.ask("traces/0/progress")
        self.assertEqual("application/json", answer.headers["Content-Type"])
        self.assertEqual("no-store", answer.headers["Cache-Control"])
        self.assertRegex(answer.headers["Server-Timing"], r"^answer;dur=\d+\.\d{3}$")
        self.check_safety(answer)
        progress = json.loads(answer.body)
        self.assertEqual(["state", "what", "done", "total", "error"], list(progress))
        self.assertEqual(("ready", None), (progress["state"], progress["error"]))

    def test_what_is_asked_wrongly_is_answered_as_json(self):
        server = self.serve()
        self.wait_until_loaded(server)
        for path, status in [("traces/0/nothing", 404),
                             ("traces/0/slices", 400),
                             ("traces/0/slices?bands=x&from=0&to=1&pixels=1", 400),
                             ("traces/0/slices?bands=0&from=0&to=1&pixels=0", 400),
                             ("traces/0/row?table=nothing&row=0", 400),
                             ("traces/0/row?table=calls&row=99999999", 404)]:
            answer = server.ask(path)
            self.assertEqual(status, answer.status, path)
            self.assertEqual("application/json", answer.headers["Content-Type"])
            self.assertEqual(["error"], list(json.loads(answer.body)))
            self.check_safety(answer)

    def test_head_is_get_without_the_body(self):
        server = self.serve()
        self.wait_until_loaded(server)
        for path in ["", "index.html", "traces/0/progress", "traces/0/nothing", "nothing"]:
            got, headed = server.ask(path), server.ask(path, "HEAD")
            self.assertEqual((got.status, b""), (headed.status, headed.body))
            for name in ["Content-Length", "Content-Type", "ETag", "Cache-Control"]:
                self.assertEqual(got.headers[name], headed.headers[name], path)

    def test_other_methods(self):
        server = self.serve()
        for method in ["POST", "PUT", "DELETE", "PATCH", "OPTIONS", "TRACE", "CONNECT", "PROPFIND", "get", "X" * 100]:
            for path in ["", "traces/0/progress"]:
                answer = server.ask(path, method)
                self.assertEqual((405, "GET, HEAD"), (answer.status, answer.headers["Allow"]), method)
        body = b"x" * 10000
        post = f"POST {server.root} HTTP/1.1\r\nHost: 127.0.0.1:{server.port}\r\nContent-Length: {len(body)}\r\n\r\n"
        self.assertEqual(405, server.status_of(post.encode() + body))

    def test_a_request_has_no_body(self):
        server = self.serve()
        self.assertEqual(413, server.status_of(server.request(**{"Content-Length": "5"}) + b"hello"))
        self.assertEqual(413, server.status_of(server.request(**{"Transfer-Encoding": "chunked"}) + b"0\r\n\r\n"))
        self.assertEqual(200, server.status_of(server.request(**{"Content-Length": "0"})))

    def test_headers_that_decide_are_given_once(self):
        server = self.serve()
        host = f"Host: 127.0.0.1:{server.port}\r\n"
        line = f"GET {server.root}traces/0/progress HTTP/1.1\r\n"
        for headers in [host + host, host + "host: evil.example\r\n", "Host: evil.example\r\n" + host,
                        host + "Content-Length: 0\r\nContent-Length: 0\r\n",
                        host + "Content-Length: 0\r\ncontent-length: 5\r\n",
                        host + "Content-Length: 0\r\nTransfer-Encoding: chunked\r\n"]:
            self.assertEqual(400, server.status_of(f"{line}{headers}\r\n".encode()), headers)
        self.assertEqual(200, server.status_of(f"{line}{host}\r\n".encode()))


class Malformed(ServerTest):
    def test_malformed_requests(self):
        server = self.serve()
        host = f"Host: 127.0.0.1:{server.port}\r\n"
        root = server.root
        for data, statuses in [
                (b"\r\n\r\n\r\n", (None, 400)),
                (b"GET\r\n\r\n", (None, 400)),
                (b"\0" * 100 + b"\r\n\r\n", (None, 400, 421, 403, 405)),
                (os.urandom(2000) + b"\r\n\r\n", (None, 400, 421, 403, 405, 431)),
                (b"\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03" + b"\r\n\r\n", (None, 400, 421)),
                (f"GET {root} HTTP/9.9\r\n{host}\r\n".encode(), (None, 200, 400, 505)),
                (f"GET {root}%zz HTTP/1.1\r\n{host}\r\n".encode(), (400,)),
                (f"GET {root}%00 HTTP/1.1\r\n{host}\r\n".encode(), (400,)),
                (f"GET {root}traces/0/progress?a=1&a=2 HTTP/1.1\r\n{host}\r\n".encode(), (400,)),
                (f"GET http://127.0.0.1:{server.port}{root} HTTP/1.1\r\n{host}\r\n".encode(), (400,)),
                (f"GET * HTTP/1.1\r\n{host}\r\n".encode(), (400,)),
                (f"GET {root} HTTP/1.1\r\n\r\n".encode(), (400, 421)),
                (f"GET {root} HTTP/1.1\r\nno colon\r\n{host}\r\n".encode(), (None, 200, 400)),
                (f"GET {root} HTTP/1.1\r\n{host}Content-Length: -1\r\n\r\n".encode(), (400, 413)),
                (f"GET {root} HTTP/1.1\r\n{host}Content-Length: 99999999999999999999\r\n\r\n".encode(), (400, 413))]:
            self.assertIn(server.status_of(data), statuses, data)
        self.assertEqual(200, server.ask("traces/0/progress").status)

    def test_oversized_requests(self):
        server = self.serve()
        self.assertEqual(403, server.ask(target="/" + "a" * 30000).status)
        self.assertEqual(404, server.ask("a" * 30000).status)
        for size in [70_000, 1_000_000]:
            self.assertIn(server.status_of(server.request("a" * size)), (None, 400, 414, 431))
            self.assertIn(server.status_of(server.request(X="a" * size)), (None, 400, 413, 431))
        many = {f"X-{i}": "a" * 20 for i in range(10_000)}
        self.assertIn(server.status_of(server.request(**many)), (None, 400, 413, 431))
        parameters = "&".join(f"p{i}=1" for i in range(17))
        self.assertEqual(400, server.ask("traces/0/progress?" + parameters).status)
        self.assertEqual(200, server.ask("traces/0/progress").status)

    def test_one_connection_carries_many_requests(self):
        """Sent at once, answered one after the other."""
        server = self.serve()
        paths = ["traces/0/progress", "nothing", "traces/0/nothing", "traces/0/progress"] * 25
        with server.connect() as connection:
            connection.sendall(b"".join(map(server.request, paths)))
            connection.shutdown(socket.SHUT_WR)
            stream = connection.makefile("rb")
            for path in paths:
                status = int(stream.readline().split()[1])
                self.assertEqual({"traces/0/progress": 200}.get(path, 404), status)
                length = 0
                while (line := stream.readline().strip()):
                    name, value = line.split(b": ", 1)
                    length = int(value) if name == b"Content-Length" else length
                self.assertEqual(length, len(stream.read(length)))
            self.assertEqual(b"", stream.read())

    def test_requests_in_pieces(self):
        server = self.serve()
        with server.connect() as connection:
            for byte in server.request():
                connection.sendall(bytes([byte]))
            self.assertIn(b"200 OK", connection.recv(4096))


if __name__ == "__main__":
    harness.main()
