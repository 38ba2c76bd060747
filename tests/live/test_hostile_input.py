# SPDX-License-Identifier: Apache-2.0
"""Files that were made to cost much: the time grows as the input does, memory has a limit, and whoever asks for more than
is reasonable is told so.

Times are CPU time of millrace alone, of an input and of one that is four times as large: where the work is quadratic it
takes sixteen times as long, on any machine."""
# runs alone: it compares CPU times

import gzip
import json
import os
import pathlib
import shutil
import subprocess
import sys

sys.path.insert(0, str(pathlib.Path(__file__).parent))
import harness  # noqa: E402
import support  # noqa: E402

GOLDEN = pathlib.Path(os.environ["SOURCE_DIR"]) / "tests/golden/small.mill"
SMALL, TIMES, LIMIT = 20_000, 4, 9
LEAST_S = 0.02  # of the small one: what is quicker cannot be compared


def interval(name, start, duration, pid=1, tid=1, category="cpu_op", **args):
    return {"ph": "X", "name": name, "cat": category, "pid": pid, "tid": tid, "ts": start, "dur": duration, "args": args}


def launch(i, correlation, tid=1):
    return interval("cudaLaunchKernel", 10 * i, 5, tid=tid, category="cuda_runtime", correlation=correlation)


def kernel(i, correlation, stream=7, device=0, name="k", duration=5):
    return interval(name, 10 * i + 3, duration, device, stream, "kernel", correlation=correlation, stream=stream,
                    device=device)


def nested(count):
    return [interval("n", i, 2 * (count - i)) for i in range(count)]


def nested_pairs(count):
    return [{"ph": phase, "name": "n", "cat": "c", "id": 1, "pid": 1, "tid": 1, "ts": i + at}
            for phase, at in (("b", 0), ("e", count)) for i in range(count)]


def one_correlation(count):
    return [event for i in range(count) for event in (launch(i, 1, 1 + i % 2), kernel(i, 1))]


INPUTS = {
    "nested": nested,
    "nested pairs of one id": nested_pairs,
    "calls and operations of one correlation": one_correlation,
    "overlapping operations": lambda count: [kernel(i, i, duration=count) for i in range(count)],
    "many devices": lambda count: [kernel(i, i, device=i) for i in range(count)],
    "many streams": lambda count: [kernel(i, i, stream=i) for i in range(count)],
    "many names": lambda count: [kernel(i, i, name=f"k{i}") for i in range(count)],
    "many threads": lambda count: [interval("n", i, 1, tid=i) for i in range(count)],
    "many processes": lambda count: [interval("n", i, 1, pid=i) for i in range(count)],
    "many at one time": lambda count: [interval("n", 5, 0) for _ in range(count)],
    "memory": lambda count: [{"ph": "i", "name": "[memory]", "pid": 1, "tid": 1, "ts": i, "args":
                              {"Bytes": 512, "Addr": 4096 * i, "Device Id": 0, "Device Type": 1}} for i in range(count)],
}


def cpu_seconds(path):
    """Of a report."""
    process = subprocess.Popen([support.MILLRACE, "report", path], stdout=subprocess.DEVNULL, stderr=subprocess.PIPE)
    error = process.stderr.read()
    process.stderr.close()
    _, status, usage = os.wait4(process.pid, 0)
    process.returncode = os.waitstatus_to_exitcode(status)
    if process.returncode != 0:
        raise AssertionError(error)
    return usage.ru_utime + usage.ru_stime


class Growth(support.LiveTest):
    def test_linear(self):
        for name, make in INPUTS.items():
            with self.subTest(name):
                paths = [self.write(make(count)) for count in (SMALL, TIMES * SMALL)]
                for _ in harness.attempts(8):
                    small, large = (cpu_seconds(path) for path in paths)
                    if large < LIMIT * max(small, LEAST_S):
                        break
                else:
                    self.fail(f"{small:.2f} s, and of an input {TIMES} times as large {large:.2f} s")

    def write(self, events):
        path = self.path(f"{len(events)}.json")
        pathlib.Path(path).write_text(json.dumps(events))
        return path


class Budget(support.LiveTest):
    def info(self, path, *options):
        result = support.run(support.MILLRACE, "info", *options, path, timeout=300)
        return result.returncode, result.stdout + result.stderr

    def test_events_that_need_much_memory(self):
        path = self.path("events.json.gz")
        event = json.dumps(interval("n", 1, 1)).encode() + b","
        with gzip.open(path, "wb", compresslevel=1) as file:
            file.write(b"[")
            for _ in range(100):
                file.write(event * 10_000)
            file.write(b"{}]")
        status, text = self.info(path, "--max-memory", "32M")
        self.assertEqual(1, status)
        self.assertRegex(text, r"^millrace: .*events\.json\.gz: reading this needs more than 32\.0 MiB of memory.*"
                               r"--max-memory=SIZE allows more\n$")
        self.assertEqual(0, self.info(path)[0])

    def test_text_that_shrinks_too_well(self):
        """What came before it is shown; the rest is damage with its reason."""
        path = self.path("blanks.json.gz")
        with gzip.open(path, "wb", compresslevel=9) as file:
            file.write(json.dumps([interval("n", 1, 1)]).encode()[:-1])
            for _ in range(400):
                file.write(b" " * (1 << 20))
            file.write(b"]")
        self.assertLess(os.path.getsize(path), 1 << 20)
        status, text = self.info(path, "--json")
        self.assertEqual(0, status)
        self.assertIn("more than 100 times as large", text)

    def test_a_file_that_claims_to_be_huge(self):
        """300 GB with nothing in them, and packets in the middle."""
        trace = self.path("sparse.mill")
        shutil.copytree(GOLDEN, trace)
        packets = (GOLDEN / "ctf/worker").read_bytes()
        with open(os.path.join(trace, "ctf/worker"), "wb") as file:
            file.seek(200 << 30)
            file.write(packets)
            file.truncate(300 << 30)
        expected = self.events(GOLDEN)
        self.assertEqual(expected, self.events(trace))

    def events(self, trace):
        status, text = self.info(str(trace), "--json")
        self.assertEqual(0, status, text)
        return json.loads(text)["events"]

    def test_truncated_while_it_is_read(self):
        """Whatever comes out, it is no signal: a report, or the reason why there is none."""
        for _ in range(10):
            trace = self.path("cut.mill")
            shutil.rmtree(trace, ignore_errors=True)
            shutil.copytree(GOLDEN, trace)
            process = subprocess.Popen([support.MILLRACE, "report", trace], stdout=subprocess.DEVNULL,
                                       stderr=subprocess.DEVNULL)
            for file in pathlib.Path(trace, "ctf").iterdir():
                os.truncate(file, file.stat().st_size // 2)
            self.assertIn(process.wait(), (0, 1))


if __name__ == "__main__":
    harness.main()
