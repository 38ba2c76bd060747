/* SPDX-License-Identifier: Apache-2.0
 *
 * The saved index: a loaded model in the file TRACE/index.millrace, so that a large trace is opened again in
 * no time. Its columns are mapped, not read (archive.h); the trace itself is opened as always.
 *
 * It is believed only if it is certainly what loading the trace now would give: the same program in the
 * same boot of the machine has written it, and every file of the trace has the same inode, size and
 * time of change. Such a key cannot be shipped with somebody else's trace, so columns are not looked through
 * before they are used; the same boot also means that no crash of the machine has lost pages of the
 * file. The trace's files are looked at before they are read: if one changes meanwhile, the index is stale
 * at once. The index and its folder must belong to the user. Any doubt, and the trace is loaded anew.
 *
 * It is written under another name, locked, and renamed, so that there is never half of one; several
 * processes may load the same trace at a time. It is not written for small traces, which load in no time;
 * for one that is still being recorded or is damaged; in a folder of somebody else; where it would take
 * more than half of the room left. Nobody is told: it is only about time.
 */
#ifndef MR_MODEL_INDEX_H
#define MR_MODEL_INDEX_H

#include "model/archive.h"
#include "model/model.h"

#define MR_INDEX_FILE "index.millrace"

/* Fills a model whose trace and manifest are there. Otherwise it is left as it was, but for its key: -ENOENT,
 * -ESTALE, -EBADMSG, -EPERM or -ENOMEM. */
int mr_index_load(struct mr_model *model);

/* Saves a model that was loaded after mr_index_load(); the reason why it was not is a negative errno. */
int mr_index_save(struct mr_model *model);

/* The same, if the trace is large enough to be worth it. */
void mr_index_save_large(struct mr_model *model);

/* Goes through everything that is kept of a model (index_content.c). Written, tables of intervals get their level of
 * detail, which stays. */
void mr_index_visit(struct mr_archive *archive, struct mr_model *model);

#endif
