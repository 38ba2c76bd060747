# SPDX-License-Identifier: Apache-2.0
"""`make demo`, from where things are built: tools/demo."""

import os
import subprocess

import harness
import tensorflow
from support import BUILD, LiveTest, run


class Demo(LiveTest):
    def demo(self, is_built, **changes):
        """Runs it in a folder that looks as after `make`, in which `make soft` succeeds or does not."""
        for name in ("millrace", "libmillrace.so", "examples"):
            os.symlink(os.path.join(BUILD, name), self.path(name))
        os.mkdir(self.path("soft"))
        os.mkdir(self.path("bin"))
        if is_built:
            os.symlink(tensorflow.SOFT, self.path("soft/millrace_soft.so"))
        os.symlink("/bin/true" if is_built else "/bin/false", self.path("bin/make"))
        return run(os.path.join(tensorflow.SOURCE, "tools/demo"), self.folder, cwd=tensorflow.SOURCE,
                   env={**os.environ, "PATH": f"{self.path('bin')}:{os.environ['PATH']}", **changes}, timeout=700)

    def check(self, result, traced):
        self.assertEqual(result.returncode, 0, result.stdout + result.stderr)
        report = result.stdout.partition("trace       ")[2]
        self.assertRegex(report, rf"command .*{traced}\n")
        self.assertIn("Where the time went", report)
        # What it says one can do, one can.
        says = [line.strip() for line in report.partition("Look further:")[2].splitlines()]
        for line in says:
            if " report " in line or " query " in line:
                command = line.partition("   ")[0].partition("  ")[0]
                followed = subprocess.run(command, shell=True, capture_output=True, text=True, timeout=60)
                self.assertEqual((followed.returncode, followed.stderr), (0, ""), command)
                self.assertGreater(len(followed.stdout.splitlines()), 5, command)

    def test_without_tensorflow(self):
        result = self.demo(is_built=False)
        self.assertIn("TensorFlow could not be installed", result.stdout)
        self.check(result, "examples/pipeline")

    def test_training(self):
        tensorflow.python_of(tensorflow.MAIN)
        if not os.path.exists(tensorflow.SOFT):
            self.skipTest("the software GPU was not built: TensorFlow or OpenCL was missing")
        result = self.demo(is_built=True)
        self.check(result, "python examples/mnist_like.py")
        self.assertIn("accuracy", result.stdout)


if __name__ == "__main__":
    harness.main()
