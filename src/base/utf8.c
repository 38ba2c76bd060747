/* SPDX-License-Identifier: Apache-2.0 */
#include "base/utf8.h"

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

size_t mr_utf8_character(const char *text, bool *ret_shown)
{
	size_t length = mr_utf8_length(text);
	unsigned char first = (unsigned char)text[0];
	bool is_control =
		first < ' ' || first == 0x7f || (first == 0xc2 && (unsigned char)text[1] < 0xa0);
	*ret_shown = length > 0 && !is_control;
	return length ? length : 1;
}
