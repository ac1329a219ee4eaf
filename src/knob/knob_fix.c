/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Owns the way from a finding's setting to asks. */
#include "knob_fix.h"

#include <errno.h>

#include "text.h"

/* "0|200000", "..." and nothing leave the value to the reader. */
static bool leaves_a_choice(const struct knob_ask *ask)
{
	return !*ask->value || strchr(ask->value, '|') || text_equal(ask->value, "...");
}

int knob_fix_asks(struct arena *arena, const char *setting, struct knob_ask **ret, size_t *ret_count, struct err *err)
{
	struct knob_ask *asks;
	size_t count = 0;

	if (!setting || !*setting)
		return err_set(err, EINVAL, NULL, "is not put right by a setting of hvtune's");
	/* No more asks than letters. */
	asks = ARENA_ARRAY(arena, strlen(setting), struct knob_ask);
	for (const char *at = setting; *at;) {
		size_t length = strcspn(at, " ");
		const char *word = arena_strndup(arena, at, length);
		struct err why = {0};

		if (knob_ask_parse(arena, word, &asks[count], &why) < 0)
			return err_set(err, EINVAL, NULL, "is put right by %s, which this hvtune does not set", word);
		if (leaves_a_choice(&asks[count]))
			return err_set(err, EINVAL, NULL, "leaves the value of %s to you", asks[count].name);
		count++;
		at += length + strspn(at + length, " ");
	}
	*ret = asks;
	*ret_count = count;
	return 0;
}
