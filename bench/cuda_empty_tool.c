/* SPDX-License-Identifier: Apache-2.0
 *
 * A tool that subscribes to all calls of CUDA, as millrace does, and does nothing with them: what any such tool costs.
 */
#include <cuda.h>
#include <cupti_callbacks.h>

int InitializeInjection(void);

static void do_nothing(void *data, CUpti_CallbackDomain domain, CUpti_CallbackId number,
		       const void *call)
{
	(void)data, (void)domain, (void)number, (void)call;
}

int InitializeInjection(void)
{
	CUpti_SubscriberHandle subscriber;
	if (cuptiSubscribe(&subscriber, do_nothing, NULL) == CUPTI_SUCCESS) {
		cuptiEnableDomain(1, subscriber, CUPTI_CB_DOMAIN_RUNTIME_API);
		cuptiEnableDomain(1, subscriber, CUPTI_CB_DOMAIN_DRIVER_API);
	}
	return 1;
}
