/* SPDX-License-Identifier: Apache-2.0 */
#include "base/utf8.h"

#include "base/macros.h"

size_t mr_utf8_length(const char *sequence)
{
	const unsigned char *text = (const unsigned char *)sequence;
	unsigned char first = text[0], lowest = 0x80, highest = 0xBF;
	size_t length;
	if (first < 0x80)
		return 1;
	if (first >= 0xC2 && first <= 0xDF) {
		length = 2;
	} else if (first >= 0xE0 && first <= 0xEF) {
		length = 3;
		lowest = first == 0xE0 ? 0xA0 : 0x80;
		highest = first == 0xED ? 0x9F : 0xBF;
	} else if (first >= 0xF0 && first <= 0xF4) {
		length = 4;
		lowest = first == 0xF0 ? 0x90 : 0x80;
		highest = first == 0xF4 ? 0x8F : 0xBF;
	} else {
		return 0;
	}
	if (text[1] < lowest || text[1] > highest)
		return 0;
	for (size_t i = 2; i < length; i++)
		if (text[i] < 0x80 || text[i] > 0xBF)
			return 0;
	return length;
}

uint32_t mr_utf8_code(const char *sequence, size_t length)
{
	const unsigned char *text = (const unsigned char *)sequence;
	uint32_t code = length == 1 ? text[0] : text[0] & (0x7Fu >> length);

	for (size_t i = 1; i < length; i++)
		code = code << 6 | (text[i] & 0x3F);
	return code;
}

/* What a terminal obeys, and what makes a text look like another: controls, marks of direction, separators of lines,
 * what has no width. Joiners (U+200C, U+200D) belong to the spelling of some languages. */
static bool is_shown(uint32_t code)
{
	static const struct {
		uint32_t first, last;
	} hidden[] = {
		{0x00, 0x1F},       {0x7F, 0x9F},     {0xAD, 0xAD},     {0x061C, 0x061C},
		{0x180E, 0x180E},   {0x200B, 0x200B}, {0x200E, 0x200F}, {0x2028, 0x202E},
		{0x2060, 0x206F},   {0xFEFF, 0xFEFF}, {0xFFF9, 0xFFFB}, {0x1D173, 0x1D17A},
		{0xE0000, 0xE0FFF},
	};

	if (mr_likely(code >= 0x20 && code < 0x7F))
		return true;
	for (size_t i = 0; i < mr_countof(hidden); i++)
		if (code >= hidden[i].first && code <= hidden[i].last)
			return false;
	return true;
}

size_t mr_utf8_character(const char *text, bool *ret_shown)
{
	size_t length = mr_utf8_length(text);

	*ret_shown = length > 0 && is_shown(mr_utf8_code(text, length));
	return length ? length : 1;
}
