/* SPDX-License-Identifier: Apache-2.0 */
#include "trace/types.h"

#include <errno.h>

#include "base/error.h"

static enum mr_type integer_type(struct mr_tsdl *tsdl, uint64_t bits, bool is_signed)
{
	static const struct {
		uint64_t bits;
		bool is_signed;
		enum mr_type type;
	} integers[] = {
		{8, false, MR_u8},   {16, false, MR_u16}, {32, false, MR_u32}, {48, false, MR_u48},
		{64, false, MR_u64}, {32, true, MR_i32},  {64, true, MR_i64},
	};
	for (size_t i = 0; i < mr_countof(integers); i++)
		if (integers[i].bits == bits && integers[i].is_signed == is_signed)
			return integers[i].type;
	mr_tsdl_fail(tsdl, "no integer has this size");
	return MR_u8;
}

static bool take_bool(struct mr_tsdl *tsdl)
{
	if (mr_tsdl_accept(tsdl, "true"))
		return true;
	mr_tsdl_expect(tsdl, "false");
	return false;
}

static enum mr_type parse_integer(struct mr_tsdl *tsdl, struct mr_token *ret_clock)
{
	uint64_t bits = 0;
	bool is_signed = false;
	mr_tsdl_expect(tsdl, "{");
	while (mr_tsdl_more(tsdl)) {
		struct mr_token key = mr_tsdl_take_key(tsdl);
		if (mr_token_is(key, "size"))
			bits = mr_tsdl_take_number(tsdl, 64);
		else if (mr_token_is(key, "align"))
			mr_tsdl_expect_number(tsdl, 8);
		else if (mr_token_is(key, "signed"))
			is_signed = take_bool(tsdl);
		else if (mr_token_is(key, "map"))
			*ret_clock = mr_tsdl_take(tsdl, MR_TOKEN_NAME);
		else
			mr_tsdl_refuse(tsdl, "integer attribute", key);
		mr_tsdl_expect(tsdl, ";");
	}
	return integer_type(tsdl, bits, is_signed);
}

static enum mr_type parse_float(struct mr_tsdl *tsdl)
{
	mr_tsdl_expect(tsdl, "{");
	while (mr_tsdl_more(tsdl)) {
		struct mr_token key = mr_tsdl_take_key(tsdl);
		if (mr_token_is(key, "exp_dig"))
			mr_tsdl_expect_number(tsdl, 11);
		else if (mr_token_is(key, "mant_dig"))
			mr_tsdl_expect_number(tsdl, 53);
		else if (mr_token_is(key, "align"))
			mr_tsdl_expect_number(tsdl, 8);
		else
			mr_tsdl_refuse(tsdl, "floating point attribute", key);
		mr_tsdl_expect(tsdl, ";");
	}
	return MR_f64;
}

static enum mr_type parse_string(struct mr_tsdl *tsdl)
{
	mr_tsdl_expect(tsdl, "{");
	while (mr_tsdl_more(tsdl)) {
		struct mr_token key = mr_tsdl_take_key(tsdl);
		if (!mr_token_is(key, "encoding"))
			mr_tsdl_refuse(tsdl, "string attribute", key);
		mr_tsdl_expect(tsdl, "UTF8");
		mr_tsdl_expect(tsdl, ";");
	}
	return MR_str;
}

static const struct mr_type_alias *find_alias(const struct mr_types *types, struct mr_token name)
{
	for (size_t i = 0; i < types->aliases.count; i++)
		if (mr_token_equal(types->aliases.items[i].name, name))
			return &types->aliases.items[i];
	return NULL;
}

static enum mr_type parse_type(const struct mr_types *types, struct mr_tsdl *tsdl,
			       struct mr_token *ret_clock)
{
	if (mr_tsdl_accept(tsdl, "integer"))
		return parse_integer(tsdl, ret_clock);
	if (mr_tsdl_accept(tsdl, "floating_point"))
		return parse_float(tsdl);
	if (mr_tsdl_accept(tsdl, "string"))
		return parse_string(tsdl);
	const struct mr_type_alias *alias = find_alias(types, tsdl->token);
	if (!alias) {
		mr_tsdl_refuse(tsdl, "type", tsdl->token);
		return MR_u8;
	}
	mr_tsdl_take_any(tsdl);
	*ret_clock = alias->clock;
	return alias->type;
}

enum mr_type mr_types_parse(const struct mr_types *types, struct mr_tsdl *tsdl)
{
	struct mr_token clock;
	return parse_type(types, tsdl, &clock);
}

void mr_types_parse_alias(struct mr_types *types, struct mr_tsdl *tsdl)
{
	struct mr_type_alias alias = {.clock.text = ""};
	alias.type = parse_type(types, tsdl, &alias.clock);
	mr_tsdl_expect(tsdl, ":=");
	alias.name = mr_tsdl_take(tsdl, MR_TOKEN_NAME);
	if (find_alias(types, alias.name))
		mr_tsdl_fail(tsdl, "this type is defined twice");
	if (mr_vec_push(&types->aliases, alias) < 0)
		mr_tsdl_fail_memory(tsdl);
}

int mr_types_check(const struct mr_types *theirs, const struct mr_types *ours)
{
	for (size_t i = 0; i < ours->aliases.count; i++) {
		const struct mr_type_alias *our = &ours->aliases.items[i];
		const struct mr_type_alias *their = find_alias(theirs, our->name);
		if (!their || their->type != our->type || !mr_token_equal(their->clock, our->clock))
			return mr_fail(EINVAL, "the type %.*s is not millrace's",
				       (int)our->name.length, our->name.text);
	}
	return 0;
}

void mr_types_free(struct mr_types *types)
{
	mr_vec_free(&types->aliases);
}
