#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""The same (programs/soft_variables.py), on a version of TensorFlow that is far from the main one."""

from tensorflow import SECOND, run_as_test

run_as_test(SECOND, "soft_variables")
