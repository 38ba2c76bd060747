#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
# runs alone: it compares what took how long with what the program measured
"""Disk, faults, io_uring, network, signals, moves: against what programs know of themselves."""

import json
import os
import unittest

import harness
from kernel import KernelTest, parse_truth, skip_unless_possible
from support import MILLRACE, dump, run

FILE_BYTES = 4 << 20
READ_BYTES = 1 << 20  # of one read of `io direct`
MAX_REQUEST_NS = 10_000_000_000


def device_folder(number):
    """Of a disk or its partition; that of a partition is inside its disk's."""
    return os.path.realpath(f"/sys/dev/block/{number >> 20}:{number & (1 << 20) - 1}")


class InputOutput(KernelTest):
    def run_io(self, *command, what):
        result = self.record_kernel("io", *command)
        return result.events, parse_truth(result.stdout, what)

    def test_direct_reads(self):
        events, (said,) = self.run_io("direct", self.make_file("data", FILE_BYTES), what="direct")
        self.assertEqual(said["bytes"], FILE_BYTES)
        direct = [request.fields for request in events.of("kernel_block_io", tid=said["tid"],
                                                          operation="read")]
        # The program itself may have been read from the disk too, in smaller parts.
        self.assertGreaterEqual(sum(request["bytes"] for request in direct), FILE_BYTES)
        waits = sum(wait.end - wait.start for wait in events.waits(said["tid"]) if wait.reason == "disk")
        self.assertGreater(waits, 0)
        sectors = set()
        for request in direct:
            self.assertEqual(request["error"], 0)
            self.assertTrue(device_folder(said["device"]).startswith(device_folder(request["device"])))
            self.assertLess(request["queue_ns"] + request["service_ns"], MAX_REQUEST_NS)
            sectors |= set(range(request["sector"], request["sector"] + request["bytes"] // 512))
        self.assertEqual(len(sectors) * 512, sum(request["bytes"] for request in direct),
                         "no sector was read twice")

    def test_major_faults(self):
        events, (said,) = self.run_io("faults", self.make_file("data", FILE_BYTES), what="faults")
        faults = [event for event in events.of("kernel_major_fault", tid=said["tid"])
                  if said["first"] <= event.fields["address"] <= said["last"]]
        self.assertEqual(len(faults), said["major"])
        self.assertGreater(said["major"], 0)
        pages = [event.fields["address"] for event in faults]
        self.assertEqual(pages, sorted(set(pages)), "one after the other, each once")
        took = [event.fields["duration_ns"] for event in faults]
        self.assertGreater(min(took), 0)
        self.assertLessEqual(sum(took), said["touching"])
        self.assertGreater(sum(took), said["touching"] // 2, "it did little else")

    def test_uring(self):
        path = self.make_file("data", FILE_BYTES)
        result = self.record_kernel("io", "uring", path)
        if parse_truth(result.stdout, "unavailable"):
            self.skipTest(result.stdout.strip())
        events, truth = result.events, parse_truth(result.stdout, "request")
        self.assertEqual(len(truth), 10)
        tid = truth[0]["tid"]
        submitted = [event.fields for event in events.of("kernel_uring_submit", tid=tid)]
        self.assertEqual([(one["user_data"], one["opcode"]) for one in submitted],
                         [(said["data"], said["opcode"]) for said in truth])
        completed = {event.fields["user_data"]: event.fields
                     for event in events.of("kernel_uring_complete")}
        for one, said in zip(submitted, truth):
            self.assertEqual(completed[said["data"]]["result"], said["result"])
            self.assertEqual(completed[said["data"]]["request"], one["request"])
            if said["result"] > 0:
                self.assertEqual(events.files[one["file"]], path)
            else:
                self.assertEqual(one["file"], 0)

    def socket_bytes(self, events, direction):
        """Bytes by the addresses of the socket."""
        result = {}
        for event in events.of("kernel_socket", direction=direction):
            path = events.files.get(event.fields["file"], "")
            result[path] = result.get(path, 0) + event.fields["bytes"]
        return result

    def test_tcp(self):
        events, (said,) = self.run_io("tcp", what="connection")
        client, server = f"127.0.0.1:{said['client']}", f"127.0.0.1:{said['server']}"
        for direction, by_client in (("send", said["sent"]), ("receive", said["received"])):
            by_server = said["received"] if direction == "send" else said["sent"]
            expected = {(client, server): by_client, (server, client): by_server}
            found = self.socket_bytes(events, direction)
            for (local, remote), count in expected.items():
                both = [path for path in found if local in path and remote in path
                        and path.index(local) < path.index(remote)]
                self.assertEqual([found[path] for path in both], [count], (direction, found))

    def test_signals(self):
        events, truth = self.run_io("signals", what="signal")
        self.assertEqual(len(truth), 3)
        for said in truth:
            sent = events.of("kernel_signal", tid=said["receiver"], signal=said["number"], stage="sent")
            self.assertEqual([(event.fields["sender_tid"], event.fields["code"]) for event in sent],
                             [(said["sender"], said["code"])])
            delivered = events.of("kernel_signal", tid=said["receiver"], signal=said["number"],
                                  stage="delivered")
            self.assertEqual(len(delivered), 1, said)
            self.assertLessEqual(sent[0].time, delivered[0].time)

    def test_deep_path(self):
        deep = self.path("/".join(f"{number}" for number in range(300)))
        os.makedirs(deep)
        with open(deep + "/file", "w"):
            pass
        result = self.record("cat", deep + "/file", options=["--levels", "kernel"])
        files = [list(event["fields"].values()) for event in dump(result.trace)
                 if event["event"] == "def_file"]
        self.assertEqual(sum(os.path.realpath(deep) + "/file" in each for each in files), 1)

    @unittest.skipIf(len(os.sched_getaffinity(0)) < 2, "one CPU only")
    def test_moves(self):
        events, (said,) = self.run_io("moves", "20", what="moves")
        moves = [event.fields for event in events.of("kernel_migrate", tid=said["tid"])
                 if event.time > said["start"]]
        self.assertEqual([(move["from_cpu"], move["to_cpu"]) for move in moves[:said["count"]]],
                         [((said["first"], said["second"]), (said["second"], said["first"]))[i % 2]
                          for i in range(said["count"])])


class Files(KernelTest):
    """The report's table of files, against what programs say and what babeltrace2 reads."""

    def files(self, trace):
        result = run(MILLRACE, "report", "--whole", "--json", trace)
        self.assertEqual(result.returncode, 0, result.stderr)
        (rows,) = (table["rows"] for finding in json.loads(result.stdout)["findings"]
                   for table in finding["tables"] if (finding["id"], table["id"]) == ("input_output", "by_file"))
        self.assertEqual(len(rows), len({row["file"] for row in rows}), "each file once")
        return {row["file"]: row for row in rows}

    def test_read_in_parts(self):
        path = self.make_file("data", FILE_BYTES)
        result = self.record_whole("io", "direct", path)
        (said,) = parse_truth(result.stdout, "direct")
        rows = self.files(result.trace)
        row = rows[path]
        # The last read finds the end.
        wanted = {"opens": 1, "reads": FILE_BYTES // READ_BYTES + 1, "writes": 0, "read_bytes": said["bytes"],
                  "written_bytes": 0}
        self.assertEqual(wanted, {key: row[key] for key in wanted})
        calls = [call for call in result.events.calls(said["tid"]) if call.path == path]
        self.assertEqual((row["count"], row["time_ns"]),
                         (len(calls), sum(call.end - call.start for call in calls)))
        waits = sum(wait.end - wait.start for wait in result.events.waits(said["tid"]) if wait.reason == "disk"
                    and any(call.start <= wait.start and wait.end <= call.end for call in calls))
        self.assertGreater(waits, 0)
        self.assertLessEqual(row["blocked_ns"], row["time_ns"])
        self.assertGreater(row["blocked_ns"], 0)

    def test_descriptors_of_any_origin(self):
        path = self.make_file("data", FILE_BYTES)
        with open(path, "rb") as file:
            result = self.record_kernel("io", "descriptors", path, stdin=file)
        said = parse_truth(result.stdout, "read")
        row = self.files(result.trace)[path]
        self.assertEqual((row["opens"], row["reads"], row["read_bytes"]),
                         (1, len(said), sum(each["bytes"] for each in said)))

    def test_sockets(self):
        result = self.record_kernel("io", "tcp")
        (said,) = parse_truth(result.stdout, "connection")
        client, server = f"127.0.0.1:{said['client']}", f"127.0.0.1:{said['server']}"
        rows = self.files(result.trace)
        for local, remote, sent, received in ((client, server, "sent", "received"),
                                              (server, client, "received", "sent")):
            (row,) = (row for path, row in rows.items()
                      if local in path and remote in path and path.index(local) < path.index(remote))
            self.assertEqual((row["writes"], row["written_bytes"], row["read_bytes"]),
                             (1, said[sent], said[received]))
            self.assertGreaterEqual(row["reads"], 1)


if __name__ == "__main__":
    skip_unless_possible()
    harness.main()
