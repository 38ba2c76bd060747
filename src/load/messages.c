/* SPDX-License-Identifier: Apache-2.0
 *
 * Joins the two ends of a message: the same key on the same channel, in any processes.
 *
 *     send     process 1  ──── channel "…task:0/device:CPU:0;…;edge_3_first;0:0", key 7 (a run) ────► receive, process 2
 *
 * If more than one sender or receiver used a key, it is not known who received what.
 *
 * A framework's send and receive operations record the channel, but not the number of bytes.
 */
#include "load/messages.h"

struct message_key {
	uint64_t key;
	uint64_t channel;
};

/* By key and direction: its row, or MR_NO_ROW, or that there is more than one. */
enum {
	SEVERAL = MR_NO_ROW - 1,
};

struct ends {
	uint32_t of[2];
};

struct pairs {
	struct mr_strings keys;
	mr_vec(struct ends) ends; /* by key */
};

static int note_end(const struct mr_messages *messages, uint32_t row, struct pairs *pairs)
{
	const struct message_key key = {messages->key[row], messages->channel[row]};
	uint32_t count = mr_strings_count(&pairs->keys);
	uint32_t number;
	int result = mr_strings_intern(&pairs->keys, &key, sizeof key, &number);

	if (result == 0 && number == count)
		result = mr_vec_push(&pairs->ends, ((struct ends){{MR_NO_ROW, MR_NO_ROW}}));
	if (result < 0)
		return result;
	uint32_t *end = &pairs->ends.items[number].of[messages->is_receive[row] != 0];
	*end = *end == MR_NO_ROW ? row : SEVERAL;
	return 0;
}

int mr_messages_link(struct mr_model *model)
{
	struct mr_messages *messages = &model->messages;
	struct pairs pairs = {0};
	int result = 0;

	for (uint32_t row = 0; result == 0 && row < messages->table.count; row++)
		result = note_end(messages, row, &pairs);
	for (size_t i = 0; result == 0 && i < pairs.ends.count; i++) {
		const uint32_t *of = pairs.ends.items[i].of;

		if (of[0] >= SEVERAL || of[1] >= SEVERAL)
			continue;
		messages->peer[of[0]] = of[1];
		messages->peer[of[1]] = of[0];
	}
	mr_strings_free(&pairs.keys);
	mr_vec_free(&pairs.ends);
	return result;
}
