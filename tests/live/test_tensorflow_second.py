# SPDX-License-Identifier: Apache-2.0
"""The same as the other tests of TensorFlow, with a much later version."""

import os
import unittest

import harness
import tensorflow

os.environ.setdefault("TENSORFLOW", tensorflow.SECOND)

from test_tensorflow_oracles import Oracles  # noqa: F401, E402
from test_tensorflow_programs import Programs  # noqa: E402

# One of each kind; `make tensorflow` runs all of them with all versions.
if "TENSORFLOW_ALL" in os.environ:
    from test_tensorflow_hostile import Hostile  # noqa: F401
else:
    for name in unittest.TestLoader().getTestCaseNames(Programs):
        if name not in ("test_function", "test_eager_and_keras", "test_control_flow_data_and_checkpoint", "test_leave",
                        "test_annotations", "test_asynchronous", "test_compiled", "test_exception"):
            delattr(Programs, name)

if __name__ == "__main__":
    harness.main()
