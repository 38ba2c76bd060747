// SPDX-License-Identifier: Apache-2.0
/** Causes in plain words (doc/causes.md defines them). */

/** @type {Record<string, string>} */
const MEANINGS = {
	"device": "a device was executing",
	"dependency": "another operation had to end first",
	"device busy": "the device was busy with other work",
	"dispatch": "ready work took its usual time to start",
	"device unknown": "ready work did not start; the trace does not explain why",
	"unlaunched": "the launch of the next operation is not in the trace",
	"no more work": "there was no more work",
	"launch": "a thread was launching the next operation",
	"call": "a thread was in a runtime call",
	"sync": "a thread was returning from a wait for a device",
	"cpu": "a thread was running on a CPU",
	"interrupt": "a thread was interrupted",
	"throttled": "a thread had used up its group's share of the CPUs",
	"preempted": "a thread waited for a CPU that another thread occupied",
	"wake-up": "a thread had been woken but did not run yet",
	"disk": "a thread waited for a disk",
	"lock": "a thread waited for a lock",
	"gil": "a thread waited for the interpreter's lock (GIL)",
	"hand-over": "a thread waited for another one",
	"network": "a thread waited for the network",
	"sleep": "a thread was asleep",
	"ipc": "a thread waited for a pipe or another channel between processes",
	"child": "a thread waited for a child process",
	"signal": "a thread slept until another sent it a signal or ended the process",
	"poll": "a thread waited in poll",
	"stopped": "a thread was stopped",
	"other": "a thread was blocked for another reason",
	"unknown": "a thread was blocked; the trace does not say why",
	"untraced": "what happened was not recorded",
};

/** @param {string} cause */
export function causeMeaning(cause) {
	return MEANINGS[cause] ?? cause;
}
