/* SPDX-License-Identifier: Apache-2.0
 *
 * Which frameworks and GPU runtimes are loaded in the process: when a trace shows nothing of them, the
 * report can say that they were there.
 */
#include <link.h>
#include <stdatomic.h>

#include "hook/hook.h"
#include "hook/tensorflow/tensorflow.h"
#include "record/recorder.h"

/* How the file names of their libraries begin. */
static const char *const runtimes[] = {
	"libtensorflow_framework.",
	"libtensorflow_cc.",
	"libtorch_cpu.",
	"libtorch_cuda.",
	"libtorch_hip.",
	"libjax_common.",
	"xla_extension.",
	"xla_cuda_plugin.",
	"libonnxruntime.",
	"onnxruntime_pybind11_state.",
	"libopenvino.",
	"libcuda.",
	"libcudart.",
	"libcudart-",
	"libamdhip64.",
	"libhsa-runtime64.",
	"libOpenCL.",
	"libOpenCL-", /* as Python wheels call their own copy */
	"libze_loader.",
};

static atomic_bool noted[mr_countof(runtimes)];

static int note_library(struct dl_phdr_info *library, size_t bytes, void *unused)
{
	(void)bytes;
	(void)unused;
	const char *slash = strrchr(library->dlpi_name, '/');
	const char *name = slash ? slash + 1 : library->dlpi_name;
	for (size_t i = 0; i < mr_countof(runtimes); i++) {
		if (strncmp(name, runtimes[i], strlen(runtimes[i])) != 0)
			continue;
		if (!atomic_exchange(&noted[i], true))
			mr_define_event(MR_EVENT_runtime_seen, NULL, 0, name);
	}
	return 0;
}

/* Not in a forked child: it has its parent's libraries, and perhaps the dynamic linker's lock, taken by a
 * thread that the child does not have. */
void mr_seen_note(void)
{
	if (mr_this_process.generation == 0 ||
	    mr_arena_process(mr_arena, (uint32_t)mr_this_process.slot)->origin !=
		    MR_process_origin_exec)
		return;
	dl_iterate_phdr(note_library, NULL);
	mr_tensorflow_note_missing();
}
