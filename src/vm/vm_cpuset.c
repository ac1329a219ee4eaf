/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Owns libvirt's syntax of CPU and node sets, which knows exclusions and follows the order in which they are written.
 */
#include <ctype.h>
#include <errno.h>

#include "vm.h"

static const char *skip_spaces(const char *at)
{
	while (isspace((unsigned char)*at))
		at++;
	return at;
}

/* One number; -EINVAL when there is none, -ERANGE when no CPU can have it. */
static int read_number(const char **at, int *ret)
{
	int64_t number = 0;

	if (!isdigit((unsigned char)**at))
		return -EINVAL;
	for (; isdigit((unsigned char)**at); (*at)++)
		number = MIN_OF(number * 10 + (**at - '0'), CPUSET_MAX);
	if (number >= CPUSET_MAX)
		return -ERANGE;
	*ret = (int)number;
	return 0;
}

/* One member: N, N-M or ^N. Returns 0 or a negative errno with *at on what is wrong. */
static int read_member(const char **at, struct cpuset *set)
{
	bool out = **at == '^';
	int first = 0, last = 0;
	const char *start = *at;

	*at += out;

	int status = read_number(at, &first);

	if (status < 0)
		return status;
	last = first;
	*at = skip_spaces(*at);
	if (**at == '-' && !out) {
		*at = skip_spaces(*at + 1);
		status = read_number(at, &last);
		if (status < 0)
			return status;
		if (last < first) {
			*at = start;
			return -EINVAL;
		}
		*at = skip_spaces(*at);
	}
	if (out) {
		cpuset_remove(set, first);
		return 0;
	}

	struct cpuset range = cpuset_range(first, last);

	*set = cpuset_or(set, &range);
	return 0;
}

int vm_parse_cpuset(const char *text, struct cpuset *ret, struct err *err)
{
	struct cpuset set = {0};
	const char *at = skip_spaces(text);
	int status = 0;

	while (*at && status == 0) {
		status = read_member(&at, &set);
		if (status < 0 || !*at)
			break;
		if (*at != ',')
			status = -EINVAL;
		else
			at = skip_spaces(at + 1);
	}
	if (status == -ERANGE)
		return err_set_at(err, ERANGE, "", 0, (unsigned)(at - text) + 1,
				  "\"%.60s\" holds a number of %d or more", text, CPUSET_MAX);
	if (status < 0)
		return err_set_at(err, EINVAL, "", 0, (unsigned)(at - text) + 1,
				  "\"%.60s\" is no set of CPUs or nodes such as 0-3,^2", text);
	if (cpuset_empty(&set))
		return err_set_at(err, EINVAL, "", 0, 1, "\"%.60s\" is a set without members", text);
	*ret = set;
	return 0;
}
