/* SPDX-License-Identifier: Apache-2.0
 *
 * Quotes words for a shell, for command lines that users copy.
 */
#ifndef MR_BASE_QUOTE_H
#define MR_BASE_QUOTE_H

#include <stdio.h>

/* Prints a word, in quotes if a shell would otherwise interpret it differently. */
void mr_quote_print(FILE *file, const char *word);

#endif
