/* SPDX-License-Identifier: Apache-2.0
 *
 * Uses all of NVTX that is traced, with NVIDIA's own header. Prints what NVTX returns where that does not depend on whether
 * there is a tool; with an argument, also the depths, which only a tool counts.
 */
#include <nvtx3/nvToolsExt.h>
#include <pthread.h>
#include <stdio.h>
#include <sys/syscall.h>
#include <unistd.h>

static nvtxRangeId_t across;

static nvtxEventAttributes_t attributes_of(const char *message)
{
	nvtxEventAttributes_t attributes = {0};

	attributes.version = NVTX_VERSION;
	attributes.size = NVTX_EVENT_ATTRIB_STRUCT_SIZE;
	attributes.messageType = NVTX_MESSAGE_TYPE_ASCII;
	attributes.message.ascii = message;
	return attributes;
}

static void *end_it(void *unused)
{
	nvtxNameOsThreadA((uint32_t)syscall(SYS_gettid), "finisher");
	nvtxRangeEnd(across);
	return unused;
}

static void use_core(void)
{
	nvtxRangePushA("outer");
	nvtxRangePushW(L"inn\u00e9r");
	nvtxMarkA("here");
	nvtxRangePop();
	nvtxRangePop();
	nvtxRangePop(); /* one too many */
}

static void use_threads(void)
{
	pthread_t thread;

	nvtxNameOsThreadA((uint32_t)syscall(SYS_gettid), "conductor");
	across = nvtxRangeStartA("across");
	pthread_create(&thread, NULL, end_it, NULL);
	pthread_join(thread, NULL);
}

static void use_domains(void)
{
	nvtxDomainHandle_t domain = nvtxDomainCreateA("solver"),
			   other = nvtxDomainCreateW(L"input");
	nvtxEventAttributes_t attributes = attributes_of("assemble");

	nvtxDomainNameCategoryA(domain, 3, "setup");
	attributes.category = 3;
	attributes.payloadType = NVTX_PAYLOAD_TYPE_INT64;
	attributes.payload.llValue = -42;
	nvtxDomainRangePushEx(domain, &attributes);
	attributes = attributes_of("read");
	attributes.category = 9;
	attributes.payloadType = NVTX_PAYLOAD_TYPE_FLOAT;
	attributes.payload.fValue = 0.5F;
	nvtxDomainRangePushEx(other, &attributes); /* overlaps with assemble */
	nvtxDomainRangePop(domain);
	nvtxDomainRangePop(other);
	attributes = attributes_of(NULL);
	attributes.messageType = NVTX_MESSAGE_TYPE_REGISTERED;
	attributes.message.registered = nvtxDomainRegisterStringA(domain, "registered");
	attributes.payloadType = NVTX_PAYLOAD_TYPE_UNSIGNED_INT64;
	attributes.payload.ullValue = UINT64_MAX;
	nvtxDomainMarkEx(domain, &attributes);
	attributes.payloadType = 0xDFBD0009; /* of an extension: a pointer, for all we know */
	attributes.payload.ullValue = 16;
	nvtxDomainRangeEnd(domain, nvtxDomainRangeStartEx(domain, &attributes));
	nvtxDomainDestroy(domain);
}

int main(int count, char **arguments)
{
	(void)arguments;
	use_core();
	use_threads();
	use_domains();
	for (int i = 0; i < 5; i++) {
		char name[16];

		snprintf(name, sizeof name, "step %d", i);
		nvtxRangePushA(name);
		nvtxRangePushA("part");
		usleep(1000);
		nvtxRangePop();
		nvtxRangePop();
	}
	if (count > 1) {
		int first = nvtxRangePushA("left open"), second = nvtxRangePushA("not");

		printf("%d %d %d\n", first, second, nvtxRangePop());
	}
	return 0;
}
