/* SPDX-License-Identifier: Apache-2.0
 *
 * The analyses against the simulator (tests/simulator), which knows why each device was idle, and what the
 * critical path is: random programs, with all levels and without some.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <string.h>

#include <cmocka.h>

#include "analysis/cause/critical_path.h"
#include "analysis/cause/idle.h"
#include "analysis/cause/waiting.h"
#include "analysis/device_time.h"
#include "simulated_run.h"

enum {
	PROGRAMS = 1000,
	TEXT_BYTES = 4096
};

/* ---- chains in the simulator's words ------------------------------------------------------------ */

static const char *node_name(const struct mr_model *model, uint32_t node)
{
	return mr_model_text(model, model->survey->definitions.nodes.items[node].name);
}

static size_t print_link(const struct mr_model *model, const struct mr_link *link, char *text,
			 size_t size)
{
	static const char *const interrupts[] = {"irq", "softirq", "vector"};
	const struct mr_track *tracks = model->survey->tracks.items;
	const char *kind = mr_cause_name(link->kind);

	switch ((enum mr_culprit_kind)link->culprit) {
	case MR_CULPRIT_THREADS: /* in chains everything is itself */
	case MR_CULPRIT_FOLDER:
	case MR_CULPRIT_UNNAMED: /* all operations have names */
	case MR_CULPRIT_NONE:
		return (size_t)snprintf(text, size, "%s", kind);
	case MR_CULPRIT_OPERATION:
		return (size_t)snprintf(text, size, "%s(%s on %s)", kind,
					mr_model_text(model, link->what),
					mr_device_name(model, link->in));
	case MR_CULPRIT_FUNCTION:
	case MR_CULPRIT_SOURCE:
		return (size_t)snprintf(text, size, "%s(%s)", kind,
					mr_model_text(model, link->what));
	case MR_CULPRIT_NODE:
		return (size_t)snprintf(text, size, "%s(%s in %u)", kind,
					node_name(model, link->what), tracks[link->in].tid);
	case MR_CULPRIT_CALL:
		return (size_t)snprintf(text, size, "%s(%s in %u)", kind,
					mr_model_text(model, link->what), tracks[link->in].tid);
	case MR_CULPRIT_LINE:
		return (size_t)snprintf(text, size, "%s(line %u in %u)", kind, link->what,
					tracks[link->in].tid);
	case MR_CULPRIT_THREAD:
		return (size_t)snprintf(text, size, "%s(thread %u)", kind, tracks[link->what].tid);
	case MR_CULPRIT_TASK:
		return (size_t)snprintf(text, size, "%s(task %u)", kind, link->what);
	case MR_CULPRIT_FILE:
		return (size_t)snprintf(text, size, "%s(%s)", kind,
					mr_file_path(model, link->what));
	case MR_CULPRIT_INTERRUPT:
		return (size_t)snprintf(text, size, "%s(%s %u)", kind, interrupts[link->in],
					link->what);
	}
	return 0;
}

static void print_chain(const struct mr_model *model, const struct mr_chains *chains,
			uint32_t chain, char text[static TEXT_BYTES])
{
	size_t length = 0;

	for (; chain != MR_NO_CHAIN; chain = mr_chain_link(chains, chain)->next) {
		if (length)
			length += (size_t)snprintf(text + length, TEXT_BYTES - length, " > ");
		length += print_link(model, mr_chain_link(chains, chain), text + length,
				     TEXT_BYTES - length);
		assert_true(length < TEXT_BYTES);
	}
}

/* ---- comparing ---------------------------------------------------------------------------------- */

/* Answers in the order of time, which cover the truth's pieces one after the other. */
struct comparison {
	const struct run *run;
	const char *what;
	const struct truth_pieces *truth;
	size_t at;
	int64_t ns; /* of the piece: compared up to here */
};

static void compare_piece(struct comparison *comparison, int64_t begin_ns, int64_t end_ns,
			  const char *text)
{
	while (begin_ns < end_ns) {
		if (comparison->at == comparison->truth->count)
			fail_msg("seed %u, %s: too much, at %lld: %s",
				 (unsigned)comparison->run->seed, comparison->what,
				 (long long)begin_ns, text);
		const struct truth_piece *piece = &comparison->truth->items[comparison->at];
		int64_t from_ns = mr_max(piece->begin_ns, comparison->ns);

		if (begin_ns != from_ns || strcmp(text, piece->text) != 0)
			fail_msg("seed %u, %s: [%lld, %lld) %s, but the truth is [%lld, %lld) %s",
				 (unsigned)comparison->run->seed, comparison->what,
				 (long long)begin_ns, (long long)end_ns, text, (long long)from_ns,
				 (long long)piece->end_ns, piece->text);
		comparison->ns = begin_ns = mr_min(end_ns, piece->end_ns);
		comparison->at += begin_ns == piece->end_ns;
	}
}

static void compare_end(const struct comparison *comparison)
{
	if (comparison->at < comparison->truth->count)
		fail_msg("seed %u, %s: too little: nothing at %lld: %s",
			 (unsigned)comparison->run->seed, comparison->what,
			 (long long)comparison->truth->items[comparison->at].begin_ns,
			 comparison->truth->items[comparison->at].text);
}

static const struct truth_device *find_device(const struct truth *truth, const char *name)
{
	for (size_t i = 0; i < truth->device_count; i++)
		if (strcmp(truth->devices[i].name, name) == 0)
			return &truth->devices[i];
	fail_msg("no device %s", name);
	return NULL;
}

static void check_sum(const struct mr_idle *idle, const struct mr_idle_device *device)
{
	struct mr_idle_cause *causes;
	uint32_t count;
	int64_t sum_ns = 0;

	assert_int_equal(
		mr_idle_causes(idle, device->first_piece, device->piece_count, &causes, &count), 0);
	for (uint32_t i = 0; i < count; i++)
		sum_ns += causes[i].total_ns;
	assert_int_equal(sum_ns, device->idle_ns);
	free(causes);
}

static void compare_device(const struct run *run, const struct mr_idle *idle,
			   const struct mr_idle_device *device)
{
	const struct truth_device *truth =
		find_device(run->truth, mr_device_name(run->model, device->device));
	struct comparison comparison = {
		.run = run, .what = truth->name, .truth = &truth->pieces, .ns = INT64_MIN};

	assert_int_equal(device->first_ns, truth->first_ns);
	assert_int_equal(device->end_ns, truth->last_ns);
	assert_int_equal(device->dispatch_ns, truth->threshold_ns);
	for (uint32_t i = 0; i < device->piece_count; i++) {
		const struct mr_idle_piece *piece = &idle->pieces.items[device->first_piece + i];
		char text[TEXT_BYTES];

		print_chain(run->model, &idle->chains, piece->chain, text);
		compare_piece(&comparison, piece->start_ns, piece->start_ns + piece->duration_ns,
			      text);
	}
	compare_end(&comparison);
	assert_int_equal(device->idle_ns, truth->idle_ns);
	check_sum(idle, device);
}

static void compare_idle(const struct run *run)
{
	struct mr_idle idle;

	assert_int_equal(mr_idle_make(run->model, &idle), 0);
	for (size_t i = 0; i < idle.devices.count; i++)
		compare_device(run, &idle, &idle.devices.items[i]);
	mr_idle_free(&idle);
}

static void compare_path(const struct run *run)
{
	struct comparison comparison = {
		.run = run, .what = "path", .truth = &run->truth->path, .ns = INT64_MIN};
	struct mr_critical_path path;

	assert_int_equal(mr_critical_path_make(run->model, &path), 0);
	for (size_t i = 0; i < path.segments.count; i++) {
		const struct mr_path_segment *segment = &path.segments.items[i];
		char text[TEXT_BYTES];

		print_link(run->model, &segment->link, text, sizeof text);
		compare_piece(&comparison, segment->start_ns,
			      segment->start_ns + segment->duration_ns, text);
	}
	compare_end(&comparison);
	mr_critical_path_free(&path);
}

/* Each program has the options of one of these. */
static const struct simulation_options variants[] = {
	{0},
	{.is_coarse = true},
	{.no_dataflow_level = true},
	{.no_kernel_level = true},
	{.is_calm = true, .is_coarse = true},
	{.size = 120},
	{.no_kernel_level = true, .no_dataflow_level = true, .is_coarse = true},
	{.is_calm = true},
};

static const struct simulation_options cuda_variants[] = {
	{.is_cuda = true},
	{.is_cuda = true, .no_kernel_level = true},
	{.is_cuda = true, .is_coarse = true, .no_dataflow_level = true},
	{.is_cuda = true, .is_calm = true},
};

static void test_programs(void **state)
{
	(void)state;
	for (uint64_t seed = 0; seed < PROGRAMS; seed++) {
		struct run run = run_start(seed, &variants[seed % mr_countof(variants)]);

		compare_idle(&run);
		compare_path(&run);
		run_end(&run);
	}
}

/* Streams, events, default streams, copies that block. */
static void test_cuda(void **state)
{
	(void)state;
	for (uint64_t seed = 0; seed < PROGRAMS / 2; seed++) {
		struct run run = run_start(seed, &cuda_variants[seed % mr_countof(cuda_variants)]);

		compare_idle(&run);
		compare_path(&run);
		run_end(&run);
	}
}

static void test_shapes(void **state)
{
	(void)state;
	for (uint64_t seed = 0; seed < PROGRAMS / 4; seed++) {
		struct run run =
			run_start(seed, &(struct simulation_options){.shape = run_shape_of(seed)});

		compare_idle(&run);
		compare_path(&run);
		run_end(&run);
	}
}

/* ---- clocks that are off ------------------------------------------------------------------------ */

/* Idle time of a device by its chain of causes, as we say it, and as it is. */
struct share {
	char *text;
	int64_t truth_ns;
	int64_t found_ns;
	int64_t uncertain_ns; /* as we say */
};

struct agreement {
	int64_t truth_ns;
	int64_t equal_ns;
	mr_vec(struct share) shares; /* of one device */
};

static struct share *find_share(struct agreement *agreement, const char *text)
{
	for (size_t i = 0; i < agreement->shares.count; i++)
		if (strcmp(agreement->shares.items[i].text, text) == 0)
			return &agreement->shares.items[i];
	assert_int_equal(mr_vec_push(&agreement->shares, ((struct share){.text = strdup(text)})),
			 0);
	return &agreement->shares.items[agreement->shares.count - 1];
}

static void check_times(const struct run *run)
{
	const struct mr_device_operations *operations = &run->model->device_operations;

	for (uint32_t row = 0; row < operations->table.count; row++) {
		uint32_t process = operations->process[row];
		int64_t start_ns, end_ns, bound_ns = (int64_t)operations->bound_ns[row];

		simulation_operation(run->simulation,
				     run->model->survey->processes.items[process].pid,
				     operations->correlation[row], &start_ns, &end_ns);
		assert_in_range(operations->start_ns[row], start_ns - bound_ns,
				start_ns + bound_ns);
		assert_in_range(mr_operation_end_ns(run->model, row), end_ns - bound_ns,
				end_ns + bound_ns);
	}
}

static void add_truth(const struct truth_device *truth, int64_t bound_ns,
		      struct agreement *agreement)
{
	agreement->truth_ns += truth->idle_ns;
	for (size_t i = 0; i < truth->pieces.count; i++) {
		const struct truth_piece *piece = &truth->pieces.items[i];
		int64_t ns = piece->end_ns - piece->begin_ns;
		struct share *share = find_share(agreement, piece->text);

		share->truth_ns += ns;
		share->uncertain_ns += ns <= 2 * bound_ns ? ns : 0; /* may not be seen at all */
	}
}

static void add_piece(const struct truth_device *truth, const struct mr_idle_piece *piece,
		      const char *text, struct agreement *agreement)
{
	int64_t end_ns = piece->start_ns + piece->duration_ns;
	struct share *share = find_share(agreement, text);

	share->found_ns += piece->duration_ns;
	share->uncertain_ns += (int64_t)piece->uncertain_ns;
	for (size_t i = 0; i < truth->pieces.count; i++) {
		const struct truth_piece *other = &truth->pieces.items[i];
		int64_t from_ns = mr_max(piece->start_ns, other->begin_ns);
		int64_t to_ns = mr_min(end_ns, other->end_ns);

		if (from_ns < to_ns && strcmp(other->text, text) == 0)
			agreement->equal_ns += to_ns - from_ns;
	}
}

static void compare_shares(const struct run *run, const char *device, struct agreement *agreement)
{
	for (size_t i = 0; i < agreement->shares.count; i++) {
		const struct share *share = &agreement->shares.items[i];

		if (llabs(share->found_ns - share->truth_ns) > share->uncertain_ns)
			fail_msg("seed %u, %s, %s: %lld +- %lld, but the truth is %lld",
				 (unsigned)run->seed, device, share->text,
				 (long long)share->found_ns, (long long)share->uncertain_ns,
				 (long long)share->truth_ns);
		free(share->text);
	}
	agreement->shares.count = 0;
}

static void agree(const struct run *run, struct agreement *agreement)
{
	struct mr_idle idle;

	assert_int_equal(mr_idle_make(run->model, &idle), 0);
	for (size_t i = 0; i < idle.devices.count; i++) {
		const struct mr_idle_device *device = &idle.devices.items[i];
		const struct truth_device *truth =
			find_device(run->truth, mr_device_name(run->model, device->device));
		uint64_t bound_ns = run->model->device_clocks[device->device].bound_ns;

		add_truth(truth, (int64_t)bound_ns, agreement);
		for (uint32_t j = 0; j < device->piece_count; j++) {
			const struct mr_idle_piece *piece =
				&idle.pieces.items[device->first_piece + j];
			char text[TEXT_BYTES];

			print_chain(run->model, &idle.chains, piece->chain, text);
			add_piece(truth, piece, text, agreement);
		}
		compare_shares(run, truth->name, agreement);
	}
	mr_idle_free(&idle);
}

/* What is said of times and causes holds within the bounds that are said. */
static void test_jitter(void **state)
{
	struct agreement agreement = {0};

	(void)state;
	for (uint64_t seed = 0; seed < PROGRAMS / 4; seed++) {
		struct run run = run_start(seed, &(struct simulation_options){.jitter_ns = 100});

		check_times(&run);
		agree(&run, &agreement);
		run_end(&run);
	}
	mr_vec_free(&agreement.shares);
	assert_true(agreement.equal_ns >= agreement.truth_ns / 100 * 99);
}

int main(void)
{
	run_prepare();
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_programs),
		cmocka_unit_test(test_cuda),
		cmocka_unit_test(test_shapes),
		cmocka_unit_test(test_jitter),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
