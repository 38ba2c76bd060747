/* SPDX-License-Identifier: Apache-2.0
 *
 * What the machine seems to consist of: node 0 is the CPU, the others are GPUs of the kind gfx900. The runtime asks for
 * caches, memory banks and links, and refuses nodes that lack one.
 */
#include <string.h>

#include "device.h"

SOFT_EXPORT HSAKMT_STATUS hsaKmtOpenKFD(void)
{
	soft_settings_read();
	soft_log_open();
	return HSAKMT_STATUS_SUCCESS;
}

SOFT_EXPORT HSAKMT_STATUS hsaKmtCloseKFD(void)
{
	return HSAKMT_STATUS_SUCCESS;
}

SOFT_EXPORT HSAKMT_STATUS hsaKmtGetVersion(HsaVersionInfo *version)
{
	*version = (HsaVersionInfo){.KernelInterfaceMajorVersion = 1,
				    .KernelInterfaceMinorVersion = 6};
	return HSAKMT_STATUS_SUCCESS;
}

/* The runtime accepts a refusal, which concerns debuggers alone. */
SOFT_EXPORT HSAKMT_STATUS hsaKmtRuntimeEnable(void *code_list, bool is_trap_set_up)
{
	(void)is_trap_set_up;
	soft_kernels_listed_by(code_list);
	return HSAKMT_STATUS_NOT_SUPPORTED;
}

SOFT_EXPORT HSAKMT_STATUS hsaKmtRuntimeDisable(void)
{
	return HSAKMT_STATUS_SUCCESS;
}

SOFT_EXPORT HSAKMT_STATUS hsaKmtAcquireSystemProperties(HsaSystemProperties *properties)
{
	*properties = (HsaSystemProperties){.NumNodes = 1 + soft_settings.gpu_count};
	return HSAKMT_STATUS_SUCCESS;
}

SOFT_EXPORT HSAKMT_STATUS hsaKmtReleaseSystemProperties(void)
{
	return HSAKMT_STATUS_SUCCESS;
}

static void describe_gpu(HSAuint32 node, HsaNodeProperties *gpu)
{
	static const char title[] = "Software gfx900";
	gpu->NumFComputeCores = 16; /* 4 compute units of 4 SIMDs */
	gpu->NumSIMDPerCU = 4;
	gpu->NumCUPerArray = 4;
	gpu->NumArrays = 1;
	gpu->NumShaderBanks = 1;
	gpu->MaxWavesPerSIMD = 10;
	gpu->WaveFrontSize = 64;
	gpu->LDSSizeInKB = 64;
	gpu->MaxSlotsScratchCU = 32;
	gpu->NumMemoryBanks = 3;
	gpu->NumCaches = 2;
	gpu->NumIOLinks = 1;
	gpu->EngineId.ui32.Major = 9;
	gpu->VendorId = 0x1002;
	gpu->DeviceId = 0x6860;
	gpu->LocationId = node << 8;
	gpu->LocalMemSize = UINT64_C(4) << 30;
	gpu->MaxEngineClockMhzFCompute = 1500;
	gpu->Capability.ui32.DoorbellType = 2;
	gpu->NumSdmaEngines = 2;
	gpu->NumSdmaQueuesPerEngine = 2;
	gpu->NumCpQueues = 24;
	gpu->UniqueID = UINT64_C(0x50f700000000) + node;
	gpu->uCodeEngineVersions.uCodeSDMA = 430;
	for (size_t i = 0; i < sizeof title; i++)
		gpu->MarketingName[i] = (HSAuint16)title[i];
	strcpy((char *)gpu->AMDName, "soft");
}

SOFT_EXPORT HSAKMT_STATUS hsaKmtGetNodeProperties(HSAuint32 node, HsaNodeProperties *properties)
{
	memset(properties, 0, sizeof *properties);
	if (node > 0) {
		describe_gpu(node, properties);
		return HSAKMT_STATUS_SUCCESS;
	}
	properties->NumCPUCores = 2;
	properties->NumMemoryBanks = 1;
	properties->NumCaches = 1;
	properties->NumIOLinks = soft_settings.gpu_count;
	strcpy((char *)properties->AMDName, "cpu");
	return HSAKMT_STATUS_SUCCESS;
}

SOFT_EXPORT HSAKMT_STATUS hsaKmtGetNodeMemoryProperties(HSAuint32 node, HSAuint32 count,
							HsaMemoryProperties *banks)
{
	static const HsaMemoryProperties of_cpu = {.HeapType = HSA_HEAPTYPE_SYSTEM,
						   .SizeInBytes = UINT64_C(8) << 30};
	static const HsaMemoryProperties of_gpu[3] = {
		{.HeapType = HSA_HEAPTYPE_FRAME_BUFFER_PRIVATE,
		 .SizeInBytes = UINT64_C(4) << 30,
		 .Width = 2048,
		 .MemoryClockMax = 945},
		{.HeapType = HSA_HEAPTYPE_GPU_LDS,
		 .SizeInBytes = 64 << 10,
		 .VirtualBaseAddress = UINT64_C(1) << 48},
		{.HeapType = HSA_HEAPTYPE_GPU_SCRATCH,
		 .SizeInBytes = UINT64_C(4) << 30,
		 .VirtualBaseAddress = UINT64_C(2) << 48},
	};
	for (HSAuint32 i = 0; i < count && i < (node > 0 ? 3 : 1); i++)
		banks[i] = node > 0 ? of_gpu[i] : of_cpu;
	return HSAKMT_STATUS_SUCCESS;
}

SOFT_EXPORT HSAKMT_STATUS hsaKmtGetNodeCacheProperties(HSAuint32 node, HSAuint32 processor,
						       HSAuint32 count, HsaCacheProperties *caches)
{
	(void)processor;
	memset(caches, 0, count * sizeof *caches);
	for (HSAuint32 i = 0; i < count; i++) {
		caches[i].CacheLevel = i + 1;
		caches[i].CacheSize = i > 0 ? 4096 : 16;
		caches[i].CacheLineSize = 64;
		caches[i].CacheType.ui32.Data = 1;
		caches[i].CacheType.ui32.CPU = node == 0;
		caches[i].CacheType.ui32.HSACU = node != 0;
	}
	return HSAKMT_STATUS_SUCCESS;
}

SOFT_EXPORT HSAKMT_STATUS hsaKmtGetNodeIoLinkProperties(HSAuint32 node, HSAuint32 count,
							HsaIoLinkProperties *links)
{
	memset(links, 0, count * sizeof *links);
	for (HSAuint32 i = 0; i < count; i++) {
		links[i].IoLinkType = HSA_IOLINKTYPE_PCIEXPRESS;
		links[i].NodeFrom = node;
		links[i].NodeTo = node == 0 ? i + 1 : 0;
		links[i].Weight = 20;
	}
	return HSAKMT_STATUS_SUCCESS;
}

SOFT_EXPORT HSAKMT_STATUS hsaKmtGetTileConfig(HSAuint32 node, HsaGpuTileConfig *config)
{
	static HSAuint32 tiles[32], macro_tiles[16];
	(void)node;
	*config = (HsaGpuTileConfig){.TileConfig = tiles, .MacroTileConfig = macro_tiles};
	return HSAKMT_STATUS_SUCCESS;
}
