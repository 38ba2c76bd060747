/* SPDX-License-Identifier: Apache-2.0
 *
 * Tokens of the CTF 1.8 metadata language (TSDL), for the parser in metadata.c.
 *
 * The first failure is kept and ends the text: every later call sees no more tokens and does
 * nothing. So a parser need not check after each step; it checks `error` once at its end.
 * Tokens point into the text and live as long as it does.
 */
#ifndef MR_TRACE_TSDL_H
#define MR_TRACE_TSDL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/macros.h"

enum mr_token_kind {
	MR_TOKEN_END,
	MR_TOKEN_NAME,   /* letters, digits, _ and inner dots: packet.header */
	MR_TOKEN_NUMBER, /* decimal, perhaps negative */
	MR_TOKEN_STRING, /* the text between the quotes */
	MR_TOKEN_SIGN,   /* := ... or one character */
};

struct mr_token {
	const char *text;
	size_t length;
	enum mr_token_kind kind;
	uint32_t line;
};

struct mr_tsdl {
	const char *position;
	const char *end;
	uint32_t line;
	int error;             /* 0, or the first failure */
	struct mr_token token; /* the next token */
};

void mr_tsdl_start(struct mr_tsdl *tsdl, const char *text, size_t length);

/* Fails with "line N: ..." */
void mr_tsdl_fail(struct mr_tsdl *tsdl, const char *format, ...) mr_printf_format(2, 3);

/* Fails because a name is not valid here: "event attribute 'x' is not known". */
void mr_tsdl_refuse(struct mr_tsdl *tsdl, const char *what, struct mr_token name);
void mr_tsdl_fail_memory(struct mr_tsdl *tsdl);

/* Takes the next token, of any kind or of a required kind. */
struct mr_token mr_tsdl_take_any(struct mr_tsdl *tsdl);
struct mr_token mr_tsdl_take(struct mr_tsdl *tsdl, enum mr_token_kind kind);

/* Takes the next token if it is this text; the second function fails if it is not. */
bool mr_tsdl_accept(struct mr_tsdl *tsdl, const char *text);
void mr_tsdl_expect(struct mr_tsdl *tsdl, const char *text);

/* Takes "name =". */
struct mr_token mr_tsdl_take_key(struct mr_tsdl *tsdl);

/* Inside braces: true while there is more, false once the closing brace is taken. */
bool mr_tsdl_more(struct mr_tsdl *tsdl);

/* Takes a number in 0 ... max, or one of either sign and a magnitude up to max. */
uint64_t mr_tsdl_take_number(struct mr_tsdl *tsdl, uint64_t max);
int64_t mr_tsdl_take_signed(struct mr_tsdl *tsdl, int64_t max);
void mr_tsdl_expect_number(struct mr_tsdl *tsdl, uint64_t number);

bool mr_token_is(struct mr_token token, const char *text);
bool mr_token_equal(struct mr_token a, struct mr_token b);

#endif
