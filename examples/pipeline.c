/* SPDX-License-Identifier: Apache-2.0
 *
 * A signal-processing pipeline, annotated with millrace.h: finds tones in a noisy signal.
 *
 *     thread    source      filter-0..N-1         spectrum          detector       main
 *     nodes     source ──►  low_pass ──►  fft ─► magnitude ──►  detect ──►  sink
 *     queue           [filter]      [spectrum]           [detector]   [sink]
 *
 * Each frame is one step. The signal contains one tone per frame (none in every fifth frame), a
 * stronger tone above the pass band, which the filter must remove, and noise. The result is known
 * in advance, so it shows whether everything works:
 *
 *     $ pipeline --frames 100
 *     bin  20: 20 frames
 *     bin  50: 20 frames
 *     ...
 *
 * The filter is by far the slowest node, on purpose: run `millrace record -- pipeline`, and
 * `millrace report` says so. More filter threads (--workers) help as long as there are CPUs for them.
 *
 * To learn about the annotations, read describe() and then each millrace_... call below it.
 */
#include <complex.h>
#include <math.h>
#include <pthread.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <millrace.h>

enum {
	FRAME_SAMPLES = 2048, /* a power of two */
	FILTER_TAPS = 511,
	INPUT_SAMPLES = FRAME_SAMPLES + FILTER_TAPS - 1,
	BINS = FRAME_SAMPLES / 2,
	QUEUE_FRAMES = 8,
	MAX_WORKERS = 64,
	MAX_FRAMES = 1000000,
	NO_TONE = -1,

	TONE_BINS = 4,
	FIRST_TONE_BIN = 20,
	TONE_SPACING = 30,
	DISTURBER_BIN = 700,
	PASS_BAND_BINS = 200,
};

static const double pi = 3.14159265358979323846;

struct frame {
	unsigned int number;
	int tone; /* bin, or NO_TONE */
	double input[INPUT_SAMPLES];
	double filtered[FRAME_SAMPLES];
	double complex spectrum[FRAME_SAMPLES];
	double magnitude[BINS];
};

/* A bounded queue of frames between threads. */
struct queue {
	pthread_mutex_t mutex;
	pthread_cond_t changed;
	struct frame *frames[QUEUE_FRAMES];
	unsigned int first;
	unsigned int count;
	unsigned int writers; /* threads that may still put something in */
	uint32_t channel;     /* its name in the trace */
};

static struct queue filter_queue, spectrum_queue, detector_queue, sink_queue;
static unsigned int frame_count = 2000;
static unsigned int worker_count = 2;
static double filter[FILTER_TAPS];
static double complex twiddles[FRAME_SAMPLES / 2];

/* ---- the graph, as described to millrace --------------------------------------------------------- */

static struct {
	uint32_t source, low_pass, fft, magnitude, detect, sink;
	uint32_t allocator;
} ids;

static void describe(void)
{
	uint32_t cpu = millrace_device("cpu", MILLRACE_DEVICE_CPU);
	uint32_t graph = millrace_graph("tone finder");
	ids.source = millrace_node(graph, "source", "Generate", cpu);
	ids.low_pass = millrace_node(graph, "low_pass", "FIR", cpu);
	ids.fft = millrace_node(graph, "fft", "FFT", cpu);
	ids.magnitude = millrace_node(graph, "magnitude", "Abs", cpu);
	ids.detect = millrace_node(graph, "detect", "Threshold", cpu);
	ids.sink = millrace_node(graph, "sink", "Count", cpu);
	millrace_edge(ids.source, 0, ids.low_pass, 0);
	millrace_edge(ids.low_pass, 0, ids.fft, 0);
	millrace_edge(ids.fft, 0, ids.magnitude, 0);
	millrace_edge(ids.magnitude, 0, ids.detect, 0);
	millrace_edge(ids.detect, 0, ids.sink, 0);
	ids.allocator = millrace_string("malloc");
}

/* ---- queues ------------------------------------------------------------------------------------- */

static void queue_init(struct queue *queue, const char *name, unsigned int writers)
{
	*queue = (struct queue){.writers = writers, .channel = millrace_string(name)};
	pthread_mutex_init(&queue->mutex, NULL);
	pthread_cond_init(&queue->changed, NULL);
}

static void queue_put(struct queue *queue, struct frame *frame)
{
	pthread_mutex_lock(&queue->mutex);
	while (queue->count == QUEUE_FRAMES)
		pthread_cond_wait(&queue->changed, &queue->mutex);
	queue->frames[(queue->first + queue->count++) % QUEUE_FRAMES] = frame;
	millrace_message_send(queue->channel, frame->number, sizeof *frame);
	millrace_counter(queue->channel, queue->count);
	pthread_cond_broadcast(&queue->changed);
	pthread_mutex_unlock(&queue->mutex);
}

/* The next frame, or NULL when no more will come. */
static struct frame *queue_take(struct queue *queue)
{
	struct frame *frame = NULL;
	pthread_mutex_lock(&queue->mutex);
	while (queue->count == 0 && queue->writers > 0)
		pthread_cond_wait(&queue->changed, &queue->mutex);
	if (queue->count > 0) {
		frame = queue->frames[queue->first];
		queue->first = (queue->first + 1) % QUEUE_FRAMES;
		queue->count--;
		millrace_message_receive(queue->channel, frame->number, sizeof *frame);
		millrace_counter(queue->channel, queue->count);
		pthread_cond_broadcast(&queue->changed);
	}
	pthread_mutex_unlock(&queue->mutex);
	return frame;
}

/* A thread calls this when it will put nothing more into the queue. */
static void queue_leave(struct queue *queue)
{
	pthread_mutex_lock(&queue->mutex);
	queue->writers--;
	pthread_cond_broadcast(&queue->changed);
	pthread_mutex_unlock(&queue->mutex);
}

/* ---- the nodes ---------------------------------------------------------------------------------- */

/* Uniform in [-1, 1). Every frame has its own sequence, so the result does not depend on threads. */
static double noise(uint32_t *state)
{
	*state = *state * 1664525u + 1013904223u;
	return (double)(int32_t)*state / 2147483648.0;
}

static int tone_of_frame(unsigned int number)
{
	unsigned int tone = number % (TONE_BINS + 1);
	return tone == TONE_BINS ? NO_TONE : FIRST_TONE_BIN + (int)tone * TONE_SPACING;
}

static void generate(struct frame *frame)
{
	struct millrace_span span = millrace_node_begin(ids.source, frame->number);
	uint32_t state = frame->number + 1;
	int tone = tone_of_frame(frame->number);
	for (int i = 0; i < INPUT_SAMPLES; i++) {
		double turn = 2 * pi * i / FRAME_SAMPLES;
		double disturber = 4 * sin(turn * DISTURBER_BIN);
		double wanted = tone == NO_TONE ? 0 : sin(turn * tone);
		frame->input[i] = wanted + disturber + noise(&state);
	}
	millrace_node_end(&span);
}

/* Windowed-sinc low-pass filter. */
static void design_filter(void)
{
	const double cutoff = 2.0 * PASS_BAND_BINS / FRAME_SAMPLES;
	for (int i = 0; i < FILTER_TAPS; i++) {
		double at = i - (FILTER_TAPS - 1) / 2.0;
		double sinc = at == 0 ? 1 : sin(pi * cutoff * at) / (pi * cutoff * at);
		double window = 0.54 - 0.46 * cos(2 * pi * i / (FILTER_TAPS - 1));
		filter[i] = cutoff * sinc * window;
	}
}

static void low_pass(struct frame *frame)
{
	struct millrace_span span = millrace_node_begin(ids.low_pass, frame->number);
	for (int i = 0; i < FRAME_SAMPLES; i++) {
		double sum = 0;
		for (int tap = 0; tap < FILTER_TAPS; tap++)
			sum += filter[tap] * frame->input[i + tap];
		frame->filtered[i] = sum;
	}
	millrace_node_end(&span);
}

static void prepare_fft(void)
{
	for (int i = 0; i < FRAME_SAMPLES / 2; i++)
		twiddles[i] = cexp(-2 * pi * I * i / FRAME_SAMPLES);
}

/* Radix-2: each half of the recursion reads every other sample. */
static void transform(double complex *output, const double *input, int count, int stride)
{
	if (count == 1) {
		output[0] = input[0];
		return;
	}
	int half = count / 2;
	transform(output, input, half, 2 * stride);
	transform(output + half, input + stride, half, 2 * stride);
	for (int i = 0; i < half; i++) {
		double complex even = output[i];
		double complex odd = twiddles[i * stride] * output[i + half];
		output[i] = even + odd;
		output[i + half] = even - odd;
	}
}

static void fft(struct frame *frame)
{
	struct millrace_span span = millrace_node_begin(ids.fft, frame->number);
	transform(frame->spectrum, frame->filtered, FRAME_SAMPLES, 1);
	millrace_node_end(&span);
}

static void magnitude(struct frame *frame)
{
	struct millrace_span span = millrace_node_begin(ids.magnitude, frame->number);
	for (int bin = 0; bin < BINS; bin++)
		frame->magnitude[bin] = cabs(frame->spectrum[bin]);
	millrace_node_end(&span);
}

/* A tone is the strongest bin, if it stands out. */
static void detect(struct frame *frame)
{
	struct millrace_span span = millrace_node_begin(ids.detect, frame->number);
	int strongest = 0;
	for (int bin = 1; bin < BINS; bin++)
		if (frame->magnitude[bin] > frame->magnitude[strongest])
			strongest = bin;
	frame->tone = frame->magnitude[strongest] > FRAME_SAMPLES / 4.0 ? strongest : NO_TONE;
	millrace_node_end(&span);
}

/* ---- the threads -------------------------------------------------------------------------------- */

static void *run_source(void *unused)
{
	(void)unused;
	for (unsigned int number = 0; number < frame_count; number++) {
		struct frame *frame = malloc(sizeof *frame);
		if (!frame)
			abort();
		millrace_memory_allocate(0, ids.allocator, ids.source, frame, sizeof *frame);
		frame->number = number;
		generate(frame);
		queue_put(&filter_queue, frame);
	}
	queue_leave(&filter_queue);
	return NULL;
}

static void *run_filter(void *unused)
{
	(void)unused;
	for (struct frame *frame; (frame = queue_take(&filter_queue));) {
		low_pass(frame);
		queue_put(&spectrum_queue, frame);
	}
	queue_leave(&spectrum_queue);
	return NULL;
}

static void *run_spectrum(void *unused)
{
	(void)unused;
	for (struct frame *frame; (frame = queue_take(&spectrum_queue));) {
		fft(frame);
		magnitude(frame);
		queue_put(&detector_queue, frame);
	}
	queue_leave(&detector_queue);
	return NULL;
}

static void *run_detector(void *unused)
{
	(void)unused;
	for (struct frame *frame; (frame = queue_take(&detector_queue));) {
		detect(frame);
		queue_put(&sink_queue, frame);
	}
	queue_leave(&sink_queue);
	return NULL;
}

/* Counts the tones in the order of the frames. Several filter threads may deliver frames out of order. */
static void run_sink(unsigned int *ret_found, struct frame **arrived)
{
	for (unsigned int number = 0; number < frame_count; number++) {
		struct millrace_span step = millrace_step_begin(number);
		while (!arrived[number]) {
			struct frame *frame = queue_take(&sink_queue);
			arrived[frame->number] = frame;
		}
		struct millrace_span span = millrace_node_begin(ids.sink, number);
		struct frame *frame = arrived[number];
		ret_found[frame->tone == NO_TONE ? BINS : frame->tone]++;
		millrace_memory_free(0, ids.allocator, frame, sizeof *frame);
		free(frame);
		millrace_node_end(&span);
		millrace_step_end(&step);
	}
}

static pthread_t start(void *(*run)(void *), const char *name)
{
	pthread_t thread;
	if (pthread_create(&thread, NULL, run, NULL) != 0)
		abort();
	pthread_setname_np(thread, name);
	return thread;
}

static void run_pipeline(unsigned int *ret_found, struct frame **arrived)
{
	pthread_t threads[3 + MAX_WORKERS];
	unsigned int count = 0;
	threads[count++] = start(run_source, "source");
	threads[count++] = start(run_spectrum, "spectrum");
	threads[count++] = start(run_detector, "detector");
	for (unsigned int i = 0; i < worker_count; i++) {
		char name[24];
		snprintf(name, sizeof name, "filter-%u", i);
		threads[count++] = start(run_filter, name);
	}
	run_sink(ret_found, arrived);
	while (count > 0)
		pthread_join(threads[--count], NULL);
}

/* ---- the program -------------------------------------------------------------------------------- */

static bool parse_number(const char *text, unsigned int max, unsigned int *ret_number)
{
	char *end;
	unsigned long number = text ? strtoul(text, &end, 10) : 0;
	if (number < 1 || number > max || *end)
		return false;
	*ret_number = (unsigned int)number;
	return true;
}

static bool parse_options(char **argv)
{
	for (argv++; *argv; argv += 2) {
		if (strcmp(*argv, "--frames") == 0 &&
		    parse_number(argv[1], MAX_FRAMES, &frame_count))
			continue;
		if (strcmp(*argv, "--workers") == 0 &&
		    parse_number(argv[1], MAX_WORKERS, &worker_count))
			continue;
		return false;
	}
	return true;
}

int main(int argc, char **argv)
{
	static unsigned int found[BINS + 1]; /* frames by bin; the last is for no tone */
	(void)argc;
	if (!parse_options(argv)) {
		fprintf(stderr, "usage: pipeline [--frames N] [--workers N]\n");
		return 2;
	}
	struct frame **arrived = calloc(frame_count, sizeof(struct frame *));
	if (!arrived)
		return 1;
	describe();
	design_filter();
	prepare_fft();
	queue_init(&filter_queue, "filter queue", 1);
	queue_init(&spectrum_queue, "spectrum queue", worker_count);
	queue_init(&detector_queue, "detector queue", 1);
	queue_init(&sink_queue, "sink queue", 1);
	run_pipeline(found, arrived);
	free(arrived);
	for (int bin = 0; bin < BINS; bin++)
		if (found[bin])
			printf("bin %3d: %u frames\n", bin, found[bin]);
	printf("no tone: %u frames\n", found[BINS]);
	return 0;
}
