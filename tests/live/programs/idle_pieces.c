/* SPDX-License-Identifier: Apache-2.0
 *
 * Reads a trace and prints why its devices were idle, a line for each piece, separated by tabs:
 *
 *     DEVICE  START  END  CORRELATION of the operation that ended the gap or -  TID or -  CAUSE  CAUSE ...
 *
 * Times are nanoseconds from the start of the first operation of the device. The causes are those of the chain.
 */
#include <inttypes.h>
#include <stdio.h>

#include "analysis/cause/idle.h"
#include "analysis/device_time.h"
#include "base/error.h"
#include "load/load.h"

static void print_piece(const struct mr_model *model, const struct mr_idle *idle,
			const struct mr_idle_device *device, const struct mr_idle_piece *piece)
{
	int64_t start_ns = piece->start_ns - device->first_ns;

	printf("%s\t%" PRId64 "\t%" PRId64, mr_device_name(model, device->device), start_ns,
	       start_ns + piece->duration_ns);
	if (piece->operation == MR_NO_ROW)
		printf("\t-");
	else
		printf("\t%" PRIu64, model->device_operations.correlation[piece->operation]);
	if (piece->thread == MR_NO_TRACK)
		printf("\t-");
	else
		printf("\t%u", model->survey->tracks.items[piece->thread].tid);
	for (uint32_t chain = piece->chain; chain != MR_NO_CHAIN;
	     chain = mr_chain_link(&idle->chains, chain)->next)
		printf("\t%s", mr_cause_name(mr_chain_link(&idle->chains, chain)->kind));
	printf("\n");
}

int main(int count, char **arguments)
{
	mr_auto(model) struct mr_model *model = NULL;
	mr_auto(idle) struct mr_idle idle = {0};

	if (count != 2 || mr_model_load(arguments[1], &model) < 0 ||
	    mr_idle_make(model, &idle) < 0) {
		fprintf(stderr, "%s\n", mr_error_text());
		return 1;
	}
	for (size_t i = 0; i < idle.devices.count; i++) {
		const struct mr_idle_device *device = &idle.devices.items[i];

		for (uint32_t j = 0; j < device->piece_count; j++)
			print_piece(model, &idle, device,
				    &idle.pieces.items[device->first_piece + j]);
	}
	return 0;
}
