#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""The software GPU's ops (programs/soft_ops.py), on the version of TensorFlow that it is made for."""

from tensorflow import MAIN, run_as_test

run_as_test(MAIN, "soft_ops", MILLRACE_SOFT_MEMORY_MB="512")
