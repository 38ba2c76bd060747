/* SPDX-License-Identifier: Apache-2.0
 *
 * Buffers of CUPTI's records as tests make them, and a libcupti that steps through them as the real one does: by the length
 * that belongs to a kind. An input is a list of
 *
 *     u8 kind │ u8 bytes (times 8) │ the record's bytes after its kind
 */
#ifndef MR_TEST_CUPTI_RECORDS_H
#define MR_TEST_CUPTI_RECORDS_H

#include "hook/cuda/cuda.h"

/* Puts the library behind the hook, with a state to write into; the arena must be attached. */
void cupti_records_start(void);

/* Reads a buffer, as if CUPTI had completed it. */
void cupti_records_read(uint8_t *buffer, size_t bytes);

/* Makes a buffer of an input: how many of its bytes are used. Names are texts of ours, or NULL. */
size_t cupti_records_make(const uint8_t *input, size_t input_bytes, uint8_t *buffer, size_t bytes);

#endif
