# SPDX-License-Identifier: Apache-2.0
"""Loads a trace with Holistic Trace Analysis; runs in its virtual environment:

    python import_reference.py FILE

Prints the CPU seconds it took, without importing its modules, and the peak memory of the whole process in
bytes."""

import logging
import resource
import sys
import time

from hta.common.trace import Trace

logging.disable(logging.CRITICAL)
start = time.process_time()
trace = Trace(trace_files={0: sys.argv[1]}, trace_dir="")
trace.parse_traces(use_multiprocessing=False)
trace.decode_symbol_ids()
end = time.process_time()
print(end - start, 1024 * resource.getrusage(resource.RUSAGE_SELF).ru_maxrss)
