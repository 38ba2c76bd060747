#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Variables on the software GPU (programs/soft_variables.py) change as on the CPU."""

from tensorflow import MAIN, run_as_test

run_as_test(MAIN, "soft_variables")
