/* SPDX-License-Identifier: Apache-2.0
 *
 * What OpenCL loaders look for in a layer: ocl-icd and older Khronos loaders call clInitLayer(), newer ones
 * clInitLayerWithProperties() and, when they are unloaded, clDeinitLayer().
 */
#include "hook/opencl/layer.h"

#include "hook/hook.h"
#include "record/own_call.h"

struct mr_opencl_dispatch mr_opencl_next;
uint32_t mr_opencl_names[MR_OPENCL_FUNCTIONS];
struct mr_opencl_state *mr_opencl;
_Thread_local uint32_t mr_opencl_depth __attribute__((tls_model("initial-exec")));

#define CALL(type, name, parameters, arguments)        OWN(type, name, parameters, arguments)
#define ABOUT(type, name, parameters, arguments, ...)  OWN(type, name, parameters, arguments)
#define MAKE(type, name, parameters, arguments)        OWN(type, name, parameters, arguments)
#define MEMORY(name, parameters, arguments, ...)       OWN(cl_mem, name, parameters, arguments)
#define LAUNCH(kind, name, parameters, arguments, ...) OWN(cl_int, name, parameters, arguments)

static const struct mr_opencl_dispatch layer = {
#define OWN(type, name, parameters, arguments) .name = mr_opencl_##name,
#define ABSENT(name)
#include "hook/opencl/functions.def"
#undef OWN
#undef ABSENT
};

static const char *const names[MR_OPENCL_FUNCTIONS] = {
#define OWN(type, name, parameters, arguments) #name,
#define ABSENT(name)                           NULL,
#include "hook/opencl/functions.def"
#undef OWN
#undef ABSENT
};

/* A second loader in the process, or the same one loaded again, finds the layer ready: handles lead to
 * their drivers through either, and the newest is there for sure. */
static bool prepare(void)
{
	if (mr_opencl)
		return true;
	struct mr_opencl_state *state = mr_own_map(sizeof *state);
	if (!state || mr_own_call(SYS_madvise, state, sizeof *state, MADV_WIPEONFORK) != 0)
		return false;
	for (int i = 0; i < MR_OPENCL_FUNCTIONS; i++)
		mr_opencl_names[i] = mr_define_string(names[i]);
	mr_opencl = state;
	return true;
}

/* ---- as loaders know them -------------------------------------------------------------------------------- */

#define EXPORT __attribute__((visibility("default")))

EXPORT cl_int clGetLayerInfo(cl_uint what, size_t bytes, void *ret_value, size_t *ret_bytes);
EXPORT cl_int clInitLayer(cl_uint entries, const struct mr_opencl_dispatch *target,
			  cl_uint *ret_entries, const struct mr_opencl_dispatch **ret_layer);
EXPORT cl_int clInitLayerWithProperties(cl_uint entries, const struct mr_opencl_dispatch *target,
					cl_uint *ret_entries,
					const struct mr_opencl_dispatch **ret_layer,
					const cl_properties *properties);
EXPORT cl_int clDeinitLayer(void);

cl_int clGetLayerInfo(cl_uint what, size_t bytes, void *ret_value, size_t *ret_bytes)
{
	static const cl_uint version = CL_LAYER_API_VERSION_100;
	static const char name[] = "millrace";
	const void *value = what == CL_LAYER_API_VERSION ? (const void *)&version : name;
	size_t need = what == CL_LAYER_API_VERSION ? sizeof version : sizeof name;
	if ((what != CL_LAYER_API_VERSION && what != CL_LAYER_NAME) || (ret_value && bytes < need))
		return CL_INVALID_VALUE;
	if (ret_value)
		memcpy(ret_value, value, need);
	if (ret_bytes)
		*ret_bytes = need;
	return CL_SUCCESS;
}

/* In a process that is not traced the loader goes on without the layer. */
cl_int clInitLayer(cl_uint entries, const struct mr_opencl_dispatch *target, cl_uint *ret_entries,
		   const struct mr_opencl_dispatch **ret_layer)
{
	mr_hook_start();
	if (!target || !ret_entries || !ret_layer)
		return CL_INVALID_VALUE;
	if (!mr_arena || !prepare())
		return CL_INVALID_OPERATION;
	/* An older loader has fewer functions, a newer one more, at the end. */
	memcpy(&mr_opencl_next, target,
	       mr_min(entries, (cl_uint)MR_OPENCL_FUNCTIONS) * sizeof(void *));
	*ret_entries = MR_OPENCL_FUNCTIONS;
	*ret_layer = &layer;
	return CL_SUCCESS;
}

cl_int clInitLayerWithProperties(cl_uint entries, const struct mr_opencl_dispatch *target,
				 cl_uint *ret_entries, const struct mr_opencl_dispatch **ret_layer,
				 const cl_properties *properties)
{
	(void)properties;
	return clInitLayer(entries, target, ret_entries, ret_layer);
}

/* The loader is unloaded, and the drivers with it. At exit they may be gone already. */
cl_int clDeinitLayer(void)
{
	if (mr_opencl && !atomic_load_explicit(&mr_opencl->is_exiting, memory_order_relaxed)) {
		mr_opencl_harvest_all(true);
		mr_opencl_clocks_close();
	}
	return CL_SUCCESS;
}
