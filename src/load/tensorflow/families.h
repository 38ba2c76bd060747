/* SPDX-License-Identifier: Apache-2.0
 *
 * Families of TensorFlow's operations. A program requests MatMul; TensorFlow may execute one of many variants instead:
 * because another library is faster on this CPU (_MklMatMul), because one operation can do the work of several
 * (_FusedMatMul), or both (_MklNativeFusedMatMul). The family is the operation that the program requested; every other
 * type is its own family.
 */
#ifndef MR_LOAD_TENSORFLOW_FAMILIES_H
#define MR_LOAD_TENSORFLOW_FAMILIES_H

#include "load/tensorflow/traceme.h"
#include "model/model.h"

/* A part of the type, or a text of the program's; never empty, if the type is not. */
struct mr_slice mr_tensorflow_family(const char *type);

/* Gives every node the family of its type. -ENOMEM. */
int mr_tensorflow_set_families(struct mr_model *model);

#endif
