/* SPDX-License-Identifier: Apache-2.0
 *
 * Words as a shell reads them, for command lines that people are to copy.
 */
#ifndef MR_BASE_QUOTE_H
#define MR_BASE_QUOTE_H

#include <stdio.h>

/* Prints a word, in quotes where a shell would otherwise read it differently. */
void mr_quote_print(FILE *file, const char *word);

#endif
