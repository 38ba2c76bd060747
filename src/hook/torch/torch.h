/* SPDX-License-Identifier: Apache-2.0
 *
 * Hooks inside unmodified PyTorch: versions 1.13 to 2.15, of Debian and of the published wheels, through the same symbols.
 *
 *     ask.c         puts observers into PyTorch while they are wanted, and proves that they are understood
 *     observer.c    every operator, autograd node and annotation, as PyTorch's RecordFunction reports it
 *     sequence.c    autograd's sequence number of each, which leads from a backward function to its forward operator
 *     tensors.c     tensors that operators take and make
 *     modules.c     the part of the model that asks for an operator: layer3.1.conv2
 *     allocator.c   memory of the CPU allocator
 *
 * PyTorch's libraries reach the functions that stand-ins replace through their linkage tables. No C++ layout is taken for
 * granted: what is passed by value, and where the sequence number stands, is found and checked while the program runs.
 */
#ifndef MR_HOOK_TORCH_TORCH_H
#define MR_HOOK_TORCH_TORCH_H

#include <stdbool.h>
#include <stdint.h>

#include "hook/shared/stand_in.h"
#include "record/recorder.h"

typedef const char *mr_torch_name_function(const void *function);

/* Before the first mr_torch_begin(): at::RecordFunction::name() of the PyTorch that is observed. (observer.c) */
void mr_torch_set_name_function(mr_torch_name_function *function);

/* The observers: an at::RecordFunction begins and ends. (observer.c) */
void mr_torch_begin(const void *function, enum mr_torch_scope scope)
	__attribute__((visibility("hidden")));
void mr_torch_end(const void *function, void *context) __attribute__((visibility("hidden")));

/* Before the program begins. (modules.c) */
void mr_torch_watch_modules(void);

/* Writes the event `torch_module` if the thread's last one says something else. (modules.c) */
void mr_torch_note_module(void);

/* Has none, or it is not known. */
#define MR_TORCH_NO_SEQUENCE MR_U48_MAX

/* The sequence number of what a RecordFunction reports. `is_on_stack`: the object lies in a frame of the calling thread,
 * so that it may be looked around in. (sequence.c) */
uint64_t mr_torch_sequence_of(const void *function, enum mr_torch_scope scope, bool is_on_stack);

/* False if it was looked for and not found. (sequence.c) */
bool mr_torch_knows_sequence(void);

/* Whether operators shall have their tensors recorded now; counts operators that no other surrounds. (tensors.c) */
bool mr_torch_tensors_are_due(void);
void mr_torch_count_outermost(void);

/* While that is so: writes the events `torch_tensor` of what begins, and of what ends. The object lies in a frame of the
 * calling thread. (tensors.c) */
void mr_torch_note_inputs(const void *function);
void mr_torch_note_outputs(const void *function);

/* The size of all tensors that something takes which begins; 0: none, or not known. (tensors.c) */
uint64_t mr_torch_input_bytes(const void *function);

#endif
