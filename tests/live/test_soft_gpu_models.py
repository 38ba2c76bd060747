#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Networks on the software GPU (programs/soft_models.py) learn and infer as on the CPU."""

from tensorflow import MAIN, run_as_test

run_as_test(MAIN, "soft_models")
