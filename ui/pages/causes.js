// SPDX-License-Identifier: Apache-2.0
/** Causes in plain words (doc/causes.md defines them). */

/** @type {Record<string, string>} */
const MEANINGS = {
	"device": "a device was at work",
	"dependency": "another operation had to end first",
	"device busy": "another device was busy",
	"dispatch": "ready work took its usual time to start",
	"device unknown": "ready work did not start; nothing in the trace explains it",
	"unlaunched": "the launch of the next operation is not in the trace",
	"no more work": "there was no more work",
	"launch": "a thread was launching the next operation",
	"call": "a thread was in a call of the runtime",
	"sync": "a thread was on its way back from waiting for a device",
	"cpu": "a thread was running on a CPU",
	"interrupt": "a thread was interrupted",
	"throttled": "a thread had used up its group's share of the CPUs",
	"preempted": "a thread waited for a CPU that another had",
	"wake-up": "a thread had been woken and did not run yet",
	"disk": "a thread waited for a disk",
	"lock": "a thread waited at a lock",
	"network": "a thread waited on the network",
	"sleep": "a thread was asleep",
	"ipc": "a thread waited at a pipe or other channel",
	"child": "a thread waited for its child process",
	"signal": "a thread was asleep until another sent it a signal, or ended the process",
	"poll": "a thread waited in poll",
	"stopped": "a thread was stopped",
	"other": "a thread was blocked",
	"unknown": "a thread was blocked; why is not known",
	"untraced": "what happened was not recorded",
};

/** @param {string} cause */
export function causeMeaning(cause) {
	return MEANINGS[cause] ?? cause;
}
