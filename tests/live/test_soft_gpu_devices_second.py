#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Two software GPUs (programs/soft_devices.py), on the other version of TensorFlow."""

from tensorflow import SECOND, run_as_test

run_as_test(SECOND, "soft_devices", devices=2)
