/* SPDX-License-Identifier: Apache-2.0 */
#include "import/chrome/json.h"

#include "base/macros.h"
#include "import/chrome/block.h"

/* ---- walking -------------------------------------------------------------------------------------- */

enum {
	BLANK = 1 << 0,
	DIGIT = 1 << 1,  /* of a decimal number */
	NUMBER = 1 << 2, /* any byte of a number */
	LETTER = 1 << 3,
};

static const uint8_t classes[256] = {
	[' '] = BLANK,
	['\n'] = BLANK,
	['\r'] = BLANK,
	['\t'] = BLANK,
	['0' ... '9'] = DIGIT | NUMBER,
	['.'] = NUMBER,
	['-'] = NUMBER,
	['+'] = NUMBER,
	['A' ... 'D'] = LETTER,
	['E'] = NUMBER | LETTER,
	['F' ... 'Z'] = LETTER,
	['a' ... 'd'] = LETTER,
	['e'] = NUMBER | LETTER,
	['f' ... 'z'] = LETTER,
};

static inline bool is_a(char byte, int class)
{
	return classes[(unsigned char)byte] & class;
}

/* A zero byte is the end of the text, or does not belong into it. */
static enum mr_scan_result stopped(const struct mr_scan *scan)
{
	return scan->at >= scan->end ? MR_SCAN_MORE : MR_SCAN_BAD;
}

char mr_scan_peek(struct mr_scan *scan)
{
	const char *at = scan->at;

	while (is_a(*at, BLANK))
		at++;
	scan->at = at;
	return at < scan->end ? *at : 0;
}

enum mr_scan_result mr_scan_enter(struct mr_scan *scan, char bracket)
{
	if (mr_scan_peek(scan) != bracket)
		return stopped(scan);
	scan->at++;
	return MR_SCAN_OK;
}

/* From the opening quote on. */
static enum mr_scan_result scan_string(struct mr_scan *scan, struct mr_json_value *ret_value)
{
	const char *first = ++scan->at;
	bool has_escapes = false;

	for (;;) {
		scan->at = mr_find_in_string(scan->at);
		if (scan->at >= scan->end)
			return MR_SCAN_MORE;
		if (*scan->at == '"')
			break;
		if (*scan->at == 0)
			return MR_SCAN_BAD;
		has_escapes = true;
		scan->at += 2;
		if (scan->at > scan->end)
			return MR_SCAN_MORE;
	}
	*ret_value = (struct mr_json_value){first, (size_t)(scan->at - first), MR_JSON_STRING,
					    has_escapes};
	scan->at++;
	return MR_SCAN_OK;
}

/* Goes through the brackets of a block: behind which byte all are closed; 0 if that is not in it. */
static int find_closing(uint64_t opens, uint64_t closes, uint64_t *depth)
{
	uint64_t empty = opens & closes >> 1; /* [] changes nothing, and there are many */

	opens ^= empty;
	closes ^= empty << 1;
	for (uint64_t left = opens | closes; left; left &= left - 1) {
		if (opens & left & -left)
			++*depth;
		else if (--*depth == 0)
			return __builtin_ctzll(left) + 1;
	}
	return 0;
}

/* From an opening bracket to behind the one that closes it. */
static enum mr_scan_result scan_brackets(struct mr_scan *scan)
{
	struct mr_block_state state = {0};
	uint64_t depth = 0;

	if (scan->at[1] == ']' || scan->at[1] == '}') { /* which find_closing() leaves out */
		scan->at += 2;
		return scan->at <= scan->end ? MR_SCAN_OK : MR_SCAN_MORE;
	}
	for (;; scan->at += MR_BLOCK_BYTES) {
		struct mr_block block = mr_block_read(scan->at);
		uint64_t counts = ~mr_block_in_string(&block, &state);

		if (block.zeros) /* nothing does from there on */
			counts &= (block.zeros & -block.zeros) - 1;
		int found = find_closing(block.opens & counts, block.closes & counts, &depth);

		if (found) {
			scan->at += found;
			return scan->at <= scan->end ? MR_SCAN_OK : MR_SCAN_MORE;
		}
		if (block.zeros) {
			scan->at += __builtin_ctzll(block.zeros);
			return stopped(scan);
		}
	}
}

/* Numbers and words end where something else begins, which must be there. */
static enum mr_scan_result scan_plain(struct mr_scan *scan, int class)
{
	const char *at = scan->at;

	while (is_a(*at, class))
		at++;
	bool is_empty = at == scan->at;
	scan->at = at;
	return at >= scan->end ? MR_SCAN_MORE : is_empty ? MR_SCAN_BAD : MR_SCAN_OK;
}

enum mr_scan_result mr_scan_value(struct mr_scan *scan, struct mr_json_value *ret_value)
{
	char begin = mr_scan_peek(scan);
	const char *first = scan->at;
	enum mr_scan_result result;
	enum mr_json_kind kind;

	if (begin == '"')
		return scan_string(scan, ret_value);
	if (begin == '{' || begin == '[') {
		kind = begin == '{' ? MR_JSON_OBJECT : MR_JSON_ARRAY;
		result = scan_brackets(scan);
	} else if (begin == '-' && is_a(scan->at[1], LETTER)) { /* -Infinity */
		scan->at++;
		kind = MR_JSON_WORD;
		result = scan_plain(scan, LETTER);
	} else if (is_a(begin, DIGIT) || begin == '-') {
		kind = MR_JSON_NUMBER;
		result = scan_plain(scan, NUMBER);
	} else if (begin) {
		kind = MR_JSON_WORD;
		result = scan_plain(scan, LETTER);
	} else {
		return stopped(scan);
	}
	*ret_value = (struct mr_json_value){first, (size_t)(scan->at - first), kind, false};
	return result;
}

/* Passes the comma between members or elements, or the closing bracket. */
static enum mr_scan_result scan_comma(struct mr_scan *scan, bool *is_first, char bracket)
{
	char next = mr_scan_peek(scan);

	if (next == bracket) {
		scan->at++;
		return MR_SCAN_LAST;
	}
	if (*is_first) {
		*is_first = false;
		return next ? MR_SCAN_OK : stopped(scan);
	}
	if (next != ',')
		return stopped(scan);
	scan->at++;
	/* Files that were never closed, and some that were, have a comma too many at the end. */
	if (mr_scan_peek(scan) != bracket)
		return scan->at < scan->end ? MR_SCAN_OK : MR_SCAN_MORE;
	scan->at++;
	return MR_SCAN_LAST;
}

enum mr_scan_result mr_scan_element(struct mr_scan *scan, bool *is_first)
{
	return scan_comma(scan, is_first, ']');
}

enum mr_scan_result mr_scan_key(struct mr_scan *scan, bool *is_first, struct mr_json_value *ret_key)
{
	enum mr_scan_result result = MR_SCAN_OK;

	if (!*is_first && memcmp(scan->at, ", \"", 3) == 0) /* as it is mostly written */
		scan->at += 2;
	else
		result = scan_comma(scan, is_first, '}');
	if (result != MR_SCAN_OK)
		return result;
	if (mr_scan_peek(scan) != '"')
		return stopped(scan);
	result = scan_string(scan, ret_key);
	return result == MR_SCAN_OK ? mr_scan_enter(scan, ':') : result;
}

enum mr_scan_result mr_scan_member(struct mr_scan *scan, bool *is_first,
				   struct mr_json_value *ret_key, struct mr_json_value *ret_value)
{
	enum mr_scan_result result = mr_scan_key(scan, is_first, ret_key);

	return result == MR_SCAN_OK ? mr_scan_value(scan, ret_value) : result;
}

struct mr_json_value mr_json_member(const struct mr_json_value *object, const char *name)
{
	struct mr_json_value key, value, found = MR_JSON_NOTHING;
	struct mr_scan scan = mr_scan_of(object);
	bool is_first = true;

	if (object->kind != MR_JSON_OBJECT)
		return found;
	mr_scan_enter(&scan, '{');
	while (mr_scan_member(&scan, &is_first, &key, &value) == MR_SCAN_OK)
		if (mr_json_is(&key, name))
			found = value;
	return found;
}

/* ---- numbers -------------------------------------------------------------------------------------- */

/* digits * 10 ^ exponent. */
struct decimal {
	uint64_t digits;
	int64_t exponent;
	bool is_negative;
};

enum {
	DIGITS_MAX = 19,           /* that always fit 64 bits */
	EXPONENT_MAX = 1000000000, /* beyond it any number is too large, or 0 */
};

/* Takes digits up to what is none. Those too many for 64 bits only move the point. */
static const char *take_digits(const char *at, const char *end, struct decimal *decimal, int *taken,
			       bool is_fraction)
{
	for (; at < end && is_a(*at, DIGIT); at++) {
		bool counts = *taken > 0 || *at != '0';

		if (*taken < DIGITS_MAX) {
			decimal->digits = decimal->digits * 10 + (uint64_t)(*at - '0');
			decimal->exponent -= is_fraction;
			*taken += counts;
		} else {
			decimal->exponent += !is_fraction;
		}
	}
	return at;
}

static const char *take_exponent(const char *at, const char *end, struct decimal *decimal)
{
	bool is_negative = at < end && *at == '-';
	int64_t exponent = 0;

	if (at < end && (*at == '-' || *at == '+'))
		at++;
	if (at == end || !is_a(*at, DIGIT))
		return NULL;
	for (; at < end && is_a(*at, DIGIT); at++)
		exponent = mr_min(exponent * 10 + (*at - '0'), (int64_t)EXPONENT_MAX);
	decimal->exponent += is_negative ? -exponent : exponent;
	return at;
}

static bool read_decimal(const struct mr_json_value *value, struct decimal *decimal)
{
	const char *at = value->text, *end = at + value->length;
	int taken = 0;

	*decimal = (struct decimal){.is_negative = at < end && *at == '-'};
	at += decimal->is_negative;
	if (at == end || !is_a(*at, DIGIT))
		return false;
	at = take_digits(at, end, decimal, &taken, false);
	if (at < end && *at == '.')
		at = take_digits(at + 1, end, decimal, &taken, true);
	if (at < end && (*at == 'e' || *at == 'E'))
		at = take_exponent(at + 1, end, decimal);
	return at == end;
}

/* digits / 10 ^ places, rounded. */
static uint64_t divide(uint64_t digits, int64_t places)
{
	if (places > DIGITS_MAX + 1)
		return 0;
	for (; places > 1; places--)
		digits /= 10;
	return digits / 10 + (digits % 10 >= 5);
}

/* The common case, fast: digits that fit, and no more decimals than `power`. False if it is another. */
static bool read_plain(const struct mr_json_value *value, int power, uint64_t *ret_integer)
{
	const char *at = value->text, *end = at + value->length;
	uint64_t integer = 0;

	if (value->length == 0 || value->length + (size_t)power > DIGITS_MAX)
		return false;
	for (; at < end && is_a(*at, DIGIT); at++)
		integer = integer * 10 + (uint64_t)(*at - '0');
	if (at < end && *at == '.' && at > value->text)
		for (at++; at < end && is_a(*at, DIGIT) && power > 0; at++, power--)
			integer = integer * 10 + (uint64_t)(*at - '0');
	for (; power > 0; power--)
		integer *= 10;
	*ret_integer = integer;
	return at == end && integer <= INT64_MAX;
}

bool mr_json_integer(const struct mr_json_value *value, int power, int64_t *ret_integer)
{
	struct decimal decimal;
	uint64_t plain;

	if (value->kind == MR_JSON_NUMBER && read_plain(value, power, &plain)) {
		*ret_integer = (int64_t)plain;
		return true;
	}

	if ((value->kind != MR_JSON_NUMBER && value->kind != MR_JSON_STRING) ||
	    !read_decimal(value, &decimal))
		return false;
	uint64_t result = decimal.digits;
	int64_t places = decimal.exponent + power;

	if (places < 0)
		result = divide(result, -places);
	for (; places > 0 && result > 0; places--)
		if (__builtin_mul_overflow(result, (uint64_t)10, &result))
			return false;
	if (result > INT64_MAX)
		return false;
	*ret_integer = decimal.is_negative ? -(int64_t)result : (int64_t)result;
	return true;
}

static int hexadecimal(char byte)
{
	if (is_a(byte, DIGIT))
		return byte - '0';
	byte |= 0x20;
	return byte >= 'a' && byte <= 'f' ? byte - 'a' + 10 : -1;
}

bool mr_json_unsigned(const struct mr_json_value *value, uint64_t *ret_number)
{
	const char *at = value->text, *end = at + value->length;
	bool is_hexadecimal = value->kind == MR_JSON_STRING && value->length > 2 && at[0] == '0' &&
			      (at[1] | 0x20) == 'x';
	uint64_t base = is_hexadecimal ? 16 : 10, number = 0;

	if ((value->kind != MR_JSON_NUMBER && value->kind != MR_JSON_STRING) || value->length == 0)
		return false;
	for (at += is_hexadecimal ? 2 : 0; at < end; at++) {
		int digit = hexadecimal(*at);

		if (digit < 0 || (uint64_t)digit >= base ||
		    __builtin_mul_overflow(number, base, &number) ||
		    __builtin_add_overflow(number, (uint64_t)digit, &number))
			return false;
	}
	*ret_number = number;
	return true;
}

/* ---- strings -------------------------------------------------------------------------------------- */

/* Four digits; -1 if they are none. */
static int32_t code_unit(const char *at, const char *end)
{
	int32_t unit = 0;

	if (end - at < 4)
		return -1;
	for (int i = 0; i < 4; i++) {
		int digit = hexadecimal(at[i]);

		if (digit < 0)
			return -1;
		unit = unit * 16 + digit;
	}
	return unit;
}

/* Never longer than the escapes: six bytes make at most three, and a pair of them four. */
static char *put_utf8(char *to, uint32_t code)
{
	if (code < 0x80) {
		*to++ = (char)code;
	} else if (code < 0x800) {
		*to++ = (char)(0xC0 | code >> 6);
		*to++ = (char)(0x80 | (code & 0x3F));
	} else {
		if (code < 0x10000) {
			*to++ = (char)(0xE0 | code >> 12);
		} else {
			*to++ = (char)(0xF0 | code >> 18);
			*to++ = (char)(0x80 | (code >> 12 & 0x3F));
		}
		*to++ = (char)(0x80 | (code >> 6 & 0x3F));
		*to++ = (char)(0x80 | (code & 0x3F));
	}
	return to;
}

/* After \u. A zero would end the text, and half a pair is no character. */
static const char *unescape_unit(const char *at, const char *end, char **to)
{
	int32_t unit = code_unit(at, end);
	uint32_t code = 0xFFFD;

	if (unit < 0) {
		*(*to)++ = '?'; /* U+FFFD would be longer than what it stands for */
		return at;
	}
	at += 4;
	if (unit >= 0xD800 && unit < 0xDC00 && end - at >= 6 && at[0] == '\\' && at[1] == 'u') {
		int32_t low = code_unit(at + 2, end);

		if (low >= 0xDC00 && low < 0xE000) {
			code = 0x10000u + ((uint32_t)(unit - 0xD800) << 10) +
			       (uint32_t)(low - 0xDC00);
			at += 6;
		}
	} else if (unit != 0 && (unit < 0xD800 || unit >= 0xE000)) {
		code = (uint32_t)unit;
	}
	*to = put_utf8(*to, code);
	return at;
}

size_t mr_json_unescape(const struct mr_json_value *value, char *room)
{
	static const char names[] = "bfnrt", meant[] = "\b\f\n\r\t";
	const char *at = value->text, *end = at + value->length;
	char *to = room;

	while (at < end) {
		if (*at != '\\' || end - at < 2) {
			*to++ = *at++;
			continue;
		}
		char escape = at[1];
		const char *name = strchr(names, escape);

		at += 2;
		if (escape == 'u')
			at = unescape_unit(at, end, &to);
		else
			*to++ = name && *name ? meant[name - names] : escape;
	}
	return (size_t)(to - room);
}
