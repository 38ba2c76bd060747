# SPDX-License-Identifier: Apache-2.0
# runs beside others: the times that it compares are in one order, however far apart
"""The hook in front of a library that looks like TensorFlow: odd texts, layouts and circumstances."""

import collections
import os

import harness
from support import MILLRACE, LiveTest, dump, query, run

PROGRAMS = os.path.join(os.environ["SOURCE_DIR"], "tests", "live", "programs")
# As Python does: privately.
MAIN = """
#include <dlfcn.h>
int main(int count, char **arguments)
{
	void *library = dlopen(arguments[1], RTLD_NOW | RTLD_LOCAL);
	void (*play)(const char *) = library ? (void (*)(const char *))dlsym(library, "play") : 0;
	if (count != 3 || !play)
		return 9;
	play(arguments[2]);
	return 0;
}
"""


class Imitation(LiveTest):
    def play(self, scene, library="libtensorflow.so.2", imitation="tensorflow_imitation.c"):
        """Events by kind, of a scene that prints what it prints by itself."""
        source, program, library = self.path("main.c"), self.path("main"), self.path(library)
        with open(source, "w") as file:
            file.write(MAIN)
        run("cc", "-o", program, source, "-ldl", check=True)
        run("cc" if imitation.endswith(".c") else "c++", "-D_GNU_SOURCE", "-shared", "-fPIC", "-o", library,
            os.path.join(PROGRAMS, imitation), check=True)
        alone = run(program, library, scene)
        result = self.record(program, library, scene, options=("--levels", "dataflow"),
                             name=os.path.basename(library) + scene + ".mill")
        self.assertEqual((result.returncode, result.stdout), (0, alone.stdout), result.stderr)
        self.trace = result.trace
        events = collections.defaultdict(list)
        for event in dump(result.trace):
            events[event["event"]].append(event)
        return events

    def check_all(self, events):
        self.assertEqual([event["names"]["device"] for event in events["eager_operation"]], ["/device:CPU:0"] * 3)
        self.assertEqual([event["fields"]["bytes"] for event in events["memory_allocate"]], [1000])
        self.assertEqual(len(events["memory_free"]), 1)
        self.assertEqual(sum(len(events[kind]) for kind in ("traceme", "traceme_numbers", "traceme_text")), 8)

    def test_operations_and_texts(self):
        """Of whatever name the library is: TensorFlow's for C, or somebody's own."""
        for library in ("libtensorflow.so.2", "libown.so"):
            with self.subTest(library):
                self.check_all(self.play("all", library))
                steps = query(self.trace, "select step from steps order by start_ns")
                self.assertEqual([row["step"] for row in steps], [1, 2, 3, 4])

    def test_sandbox(self):
        """Programs may be killed for a system call that they do not make themselves."""
        self.check_nodes(self.play("sandbox"))

    def test_nodes(self):
        """In whatever order attributes come, a node has one text; inputs that are too many are cut."""
        self.check_nodes(self.play("all"))

    def check_nodes(self, events):
        texts = collections.Counter(event["names"]["text"] for event in events["activity"])
        self.assertEqual(sorted(texts.values()), [1, 1, 21])
        self.assertEqual({event["fields"]["run"] for event in events["activity"]}, {2 ** 64 - 7})
        self.assertEqual(events["hook_missing"], [])
        edges = query(self.trace, "select s.name as source, t.name as target from edges e join nodes s on "
                                  "e.source = s.rowid join nodes t on e.target = t.rowid")
        self.assertEqual([(row["source"], row["target"]) for row in edges if row["target"] != "group"],
                         [("x", "node"), ("y", "node")])
        inputs = [int(row["source"].removeprefix("input")) for row in edges if row["target"] == "group"]
        self.assertGreater(len(inputs), 1000)
        self.assertTrue(all(low < high for low, high in zip(inputs, inputs[1:])), "an input was cut in its name")

    def test_watcher_is_given_up(self):
        for scene in ("unknown", "forbidden"):
            with self.subTest(scene):
                events = self.play(scene)
                self.check_all(events)
                self.assertEqual(events["activity"], [])
                self.assertIn("activities", "".join(event["fields"]["name"] for event in events["hook_missing"]))

    def watched(self, scene):
        """Names of the nodes that the watcher told of."""
        texts = [event["names"]["text"] for event in self.play(scene)["activity"]]
        return [text.partition("node_name=")[2].split("\n")[0] for text in texts]

    def test_watcher_sleeps(self):
        """It is costly: on only while there are new nodes, or could be."""
        self.assertEqual(self.watched("quiet"), ["early", "early", "awake", "late", "later"])
        *early, last = self.watched("busy")
        self.assertEqual((set(early), last), ({"early"}, "awake"))
        self.assertIn(len(early), range(1000, 9000))

    def test_allocator_throws(self):
        """The outermost allocator tells, also after an exception has passed through some."""
        events = self.play("throw", imitation="tensorflow_throws.cc")
        self.assertEqual([event["fields"]["bytes"] for event in events["memory_allocate"]], [10, 10, 20])
        self.assertEqual([event["names"]["allocator"] for event in events["memory_free"]], ["cpu", "cpu", "mklcpu"])

    def test_profile(self):
        """Two profiles at once there are not, and the second does not take the first one's events."""
        self.play("profile")

    def test_asynchronous(self):
        """An operation is executed by another thread: there it stands, and it is known when it was done."""
        (enqueued,), (ran,) = map(self.play("later").get, ("eager_enqueue", "eager_run"))
        self.assertEqual(enqueued["fields"]["item"], ran["fields"]["item"])
        self.assertNotEqual(enqueued["tid"], ran["tid"])
        (row,) = query(self.trace, "select t.tid as tid, start_ns, asked_ns, duration_ns, done_ns, flags from "
                                   "node_executions e join tracks t on t.rowid = e.track")
        self.assertEqual((row["tid"], row["flags"]), (ran["tid"], "ASYNCHRONOUS"))
        self.assertLessEqual(row["asked_ns"], enqueued["ns"])
        self.assertLessEqual(enqueued["ns"], row["start_ns"])
        self.assertEqual(row["done_ns"], row["start_ns"] + row["duration_ns"])

    def test_asynchronous_with_unknown_end(self):
        """Done elsewhere, or nobody knows where: said, not guessed."""
        for scene in ("far", "unknown_item"):
            with self.subTest(scene):
                events = self.play(scene)
                self.assertEqual([event["fields"]["is_done"] for event in events["eager_run"]],
                                 [0] if scene == "far" else [])
                (row,) = query(self.trace, "select done_ns, flags from node_executions")
                self.assertEqual((row["done_ns"], row["flags"]), (None, "ASYNCHRONOUS"))
                told = " ".join(run(MILLRACE, "report", "--whole", self.trace).stdout.split())
                self.assertIn("It is not known when 1 of 1 asynchronous executions were done", told)

    def test_fork(self):
        self.check_all(self.play("fork"))


if __name__ == "__main__":
    harness.main()
