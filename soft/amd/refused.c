/* SPDX-License-Identifier: Apache-2.0
 *
 * Functions of the thunk that change nothing here, and functions for what this device does not have. Their arguments do
 * not matter.
 */
#include "device.h"

/* Declared apart from hsakmt.h's prototypes, under the names that the linker uses. */
#define STAND_IN(name, status)                            \
	SOFT_EXPORT int soft_##name(void) __asm__(#name); \
	int soft_##name(void)                             \
	{                                                 \
		return status;                            \
	}

STAND_IN(hsaKmtUpdateQueue, HSAKMT_STATUS_SUCCESS)
STAND_IN(hsaKmtSetQueueCUMask, HSAKMT_STATUS_SUCCESS)
STAND_IN(hsaKmtSetMemoryPolicy, HSAKMT_STATUS_SUCCESS)
STAND_IN(hsaKmtSetTrapHandler, HSAKMT_STATUS_SUCCESS)
STAND_IN(hsaKmtAllocQueueGWS, HSAKMT_STATUS_NOT_SUPPORTED)
STAND_IN(hsaKmtSetXNACKMode, HSAKMT_STATUS_NOT_SUPPORTED)
STAND_IN(hsaKmtSVMGetAttr, HSAKMT_STATUS_NOT_SUPPORTED)
STAND_IN(hsaKmtSVMSetAttr, HSAKMT_STATUS_NOT_SUPPORTED)
STAND_IN(hsaKmtRegisterGraphicsHandleToNodes, HSAKMT_STATUS_NOT_SUPPORTED)
STAND_IN(hsaKmtRegisterSharedHandle, HSAKMT_STATUS_NOT_SUPPORTED)
STAND_IN(hsaKmtRegisterSharedHandleToNodes, HSAKMT_STATUS_NOT_SUPPORTED)
STAND_IN(hsaKmtShareMemory, HSAKMT_STATUS_NOT_SUPPORTED)

SOFT_EXPORT HSAKMT_STATUS hsaKmtGetXNACKMode(HSAint32 *ret_is_on)
{
	*ret_is_on = 0;
	return HSAKMT_STATUS_SUCCESS;
}
