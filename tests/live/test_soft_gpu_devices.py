#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Two software GPUs (programs/soft_devices.py)."""

from tensorflow import MAIN, run_as_test

run_as_test(MAIN, "soft_devices", devices=2)
