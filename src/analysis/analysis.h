/* SPDX-License-Identifier: Apache-2.0
 *
 * The analyses: pure functions from the model to findings, one file per question. Each adds its
 * findings, or none where the trace has nothing to say; 0 or a negative errno with its cause.
 */
#ifndef MR_ANALYSIS_ANALYSIS_H
#define MR_ANALYSIS_ANALYSIS_H

#include "analysis/finding/finding.h"
#include "model/model.h"

typedef int mr_analysis(const struct mr_model *model, struct mr_findings *findings);

/* All of a report: every analysis below but the contents. */
int mr_analyse_all(const struct mr_model *model, struct mr_findings *findings);

/* Can the trace be trusted: losses, damage, what was not traced, how exact times are. */
int mr_analyse_health(const struct mr_model *model, struct mr_findings *findings);

/* Where the time went, in short: of the findings that are there, which it is put before. */
int mr_analyse_overview(const struct mr_model *model, struct mr_findings *findings);

/* What is in the trace: events by kind, processes, threads, clocks. */
int mr_analyse_contents(const struct mr_model *model, struct mr_findings *findings);

/* What the devices did: busy and idle, exposed and hidden copies, by device and queue. */
int mr_analyse_devices(const struct mr_model *model, struct mr_findings *findings);

/* What the end of the trace, or of the window, waited for: the critical path. */
int mr_analyse_critical_path(const struct mr_model *model, struct mr_findings *findings);

/* Why the devices were idle (doc/causes.md). */
int mr_analyse_idle(const struct mr_model *model, struct mr_findings *findings);

/* Device operations: kernels by name, by node that launched them, copies by direction, delays before they
 * start, and how many waited in queues. */
int mr_analyse_device_operations(const struct mr_model *model, struct mr_findings *findings);

/* Runtime calls: functions by time, and those that waited for a device. */
int mr_analyse_calls(const struct mr_model *model, struct mr_findings *findings);

/* Memory of devices: peak, and what is live at the end. */
int mr_analyse_memory(const struct mr_model *model, struct mr_findings *findings);

/* Steps: how long they took; inferred from the launches where the program marks none. */
int mr_analyse_steps(const struct mr_model *model, struct mr_findings *findings);

/* Where the time of the dataflow graph went: by node, type and thread. */
int mr_analyse_operations(const struct mr_model *model, struct mr_findings *findings);

/* How long nodes waited to be executed when their inputs were there. */
int mr_analyse_latency(const struct mr_model *model, struct mr_findings *findings);

/* The kernel level: how much threads ran, wanted a CPU and were blocked; what they blocked on and who ended
 * it; who had the CPU they wanted; system calls; disks, sockets, faults and interrupts. */
int mr_analyse_threads(const struct mr_model *model, struct mr_findings *findings);
int mr_analyse_waits(const struct mr_model *model, struct mr_findings *findings);
int mr_analyse_preemption(const struct mr_model *model, struct mr_findings *findings);
int mr_analyse_system_calls(const struct mr_model *model, struct mr_findings *findings);
int mr_analyse_input_output(const struct mr_model *model, struct mr_findings *findings);

#endif
