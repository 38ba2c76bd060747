/* SPDX-License-Identifier: Apache-2.0
 *
 * The saved index: a loaded model in the file TRACE/index.millrace, so that a large trace opens immediately the
 * next time. Its columns are mapped, not read (archive.h); the trace itself is opened as always.
 *
 * The index is used only if it is certainly what loading the trace now would give: the same program wrote it
 * during the same boot of the machine, and every file of the trace has the same inode, size and time of change.
 * Such a key cannot be shipped with someone else's trace, so what the columns say is believed; that they say what was
 * written is verified by checksums each time (archive.h). The key of the trace's files is taken before they are read:
 * if one changes meanwhile, the index is stale at once. The index and its folder must belong to the user. In any doubt
 * the trace is loaded again.
 *
 * The index is written under another name, locked, and renamed, so that there is never a partial one; several
 * processes may load the same trace at the same time. It is not written for small traces, which load quickly; for
 * a trace that is still being recorded or is damaged; in a folder of another user; or if it would take more than
 * half of the free space. There is no message in these cases: only time is lost.
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
