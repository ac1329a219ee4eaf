/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Owns drawing and remembering replacements. */
#include "sys_secret.h"

#include <arpa/inet.h>
#include <ctype.h>
#include <search.h>
#include <string.h>
#include <sys/random.h>

#include "err.h"
#include "text.h"

struct secret {
	enum secret_kind kind;
	const char *key;	 /* what tells secrets apart: hexadecimal ones by their digits alone */
	const char *replacement; /* for hexadecimal shapes only the digits */
};

struct name {
	const char *word, *replacement;
	bool everyday;
};

struct secret_store {
	struct arena *arena;
	void *by_key;	      /* tsearch tree of struct secret */
	void *by_replacement; /* the same, to know what was made here */
	struct name *names;
	size_t name_count, name_room, count;
};

/* Words that are names of hosts, VMs or users now and then, and say nothing, or are words of configuration. */
static const char *const everyday_words[] = {
    "admin",   "alma",	 "arch",    "auto",    "balanced", "boot",	  "builder",   "centos",
    "default", "debian", "desktop", "disk",    "enabled",  "fedora",	  "guest",     "host",
    "kernel",  "kvm",	 "latency", "libvirt", "linux",	   "local",	  "localhost", "machine",
    "none",    "nixos",	 "node",    "nvme",    "opensuse", "performance", "powersave", "proxmox",
    "qemu",    "rocky",	 "root",    "server",  "suse",	   "system",	  "test",      "tuned",
    "ubuntu",  "user",	 "virtual", "virt",    "window",   "windows",	  "work",      "workstation"};

struct secret_store *secret_store_new(void)
{
	struct secret_store *store = calloc(1, sizeof(*store));

	if (!store)
		err_no_memory();
	store->arena = arena_new();
	return store;
}

static void keep(void *node)
{
	(void)node; /* it is the arena's */
}

struct secret_store *secret_store_free(struct secret_store *store)
{
	if (!store)
		return NULL;
	tdestroy(store->by_key, keep);
	tdestroy(store->by_replacement, keep);
	free(store->names);
	(void)arena_free(store->arena);
	free(store);
	return NULL;
}

size_t secret_count(const struct secret_store *store)
{
	return store->count;
}

static int compare_keys(const void *a, const void *b)
{
	const struct secret *one = a, *other = b;

	if (one->kind != other->kind)
		return one->kind < other->kind ? -1 : 1;
	return strcmp(one->key, other->key);
}

static int compare_replacements(const void *a, const void *b)
{
	const struct secret *one = a, *other = b;

	return strcmp(one->replacement, other->replacement);
}

/* ---- drawing ---- */

static unsigned draw(unsigned below)
{
	uint32_t number = 0;

	/* So few bytes come whole or, before the kernel has any, not at all. */
	while (getrandom(&number, sizeof(number), 0) != (ssize_t)sizeof(number))
		;
	return number % below;
}

static char draw_hex(void)
{
	return "0123456789abcdef"[draw(16)];
}

/* At "\x2d", which systemd writes for a dash in the names of units? It is a separator, not digits. */
static bool is_escape(const char *at)
{
	return at[0] == '\\' && at[1] == 'x' && isxdigit((unsigned char)at[2]) && isxdigit((unsigned char)at[3]);
}

static size_t separator_length(const char *at)
{
	return is_escape(at) ? 4 : !isalnum((unsigned char)*at);
}

/* The hexadecimal digits of a text without its separators, in lower case; NULL when there are other letters too. */
static char *hex_digits(struct arena *arena, const char *text)
{
	char *digits = arena_strdup(arena, text), *to = digits;

	if (text_starts(text, "0x"))
		text += 2;
	while (*text) {
		size_t separator = separator_length(text);

		if (!separator && !isxdigit((unsigned char)*text))
			return NULL;
		if (!separator)
			*to++ = (char)tolower((unsigned char)*text);
		text += separator ? separator : 1;
	}
	*to = '\0';
	return digits;
}

/* The digits put into the form of `text`, with its separators and its case. */
static const char *in_form_of(struct arena *arena, const char *text, const char *digits)
{
	char *copy = arena_strdup(arena, text);
	bool upper = false;

	for (const char *at = text; *at; at++)
		upper |= *at >= 'A' && *at <= 'F';
	for (char *at = copy + (text_starts(text, "0x") ? 2 : 0); *at;) {
		size_t separator = separator_length(at);

		if (!separator && *digits) {
			*at = upper ? (char)toupper((unsigned char)*digits) : *digits;
			digits++;
		}
		at += separator ? separator : 1;
	}
	return copy;
}

static char *draw_digits(struct arena *arena, const char *digits, bool is_mac)
{
	char *drawn = arena_strdup(arena, digits);
	bool decimal = !is_mac && digits[strspn(digits, "0123456789")] == '\0';

	for (char *at = drawn; *at; at++)
		*at = decimal ? (char)('0' + draw(10)) : draw_hex();
	if (is_mac && strlen(drawn) > 2) {
		drawn[0] = '0';
		drawn[1] = '2';
	}
	return drawn;
}

static char *draw_shape(struct arena *arena, const char *secret)
{
	char *drawn = arena_strdup(arena, secret);

	for (char *at = drawn; *at;) {
		size_t separator = separator_length(at);

		if (separator) {
			at += separator;
			continue;
		}
		if (isdigit((unsigned char)*at))
			*at = (char)('0' + draw(10));
		else
			*at = (char)((isupper((unsigned char)*at) ? 'A' : 'a') + draw(26));
		at++;
	}
	/* What is no letter or digit of ASCII (a name in another script) says as much: nothing of it may stay. */
	for (char *at = drawn; *at; at++)
		if ((unsigned char)*at >= 0x80)
			*at = 'x';
	return drawn;
}

static const char *draw_name(struct arena *arena, const char *prefix)
{
	char digits[] = "000000";

	for (size_t i = 0; i < strlen(digits); i++)
		digits[i] = draw_hex();
	return arena_printf(arena, "%s%s", prefix, digits);
}

static const char *draw_replacement(struct arena *arena, enum secret_kind kind, const char *secret)
{
	switch (kind) {
	case SECRET_IPV4:
		return arena_printf(arena, "10.%u.%u.%u", draw(256), draw(256), 1 + draw(254));
	case SECRET_IPV6:
		return arena_printf(arena, "2001:db8:%x:%x::%x", draw(65536), draw(65536), 1 + draw(65535));
	case SECRET_HOST:
		return draw_name(arena, "host");
	case SECRET_VM:
		return draw_name(arena, "vm");
	case SECRET_USER:
		return draw_name(arena, "user");
	case SECRET_BUILDER:
		return draw_name(arena, "name");
	case SECRET_LABEL:
		return draw_name(arena, "label");
	case SECRET_SHAPE:
	case SECRET_MAC:
		break;
	}
	return draw_shape(arena, secret);
}

/* ---- remembering ---- */

static bool is_everyday(const char *word)
{
	if (strlen(word) < 4)
		return true;
	for (size_t i = 0; i < ARRAY_SIZE(everyday_words); i++)
		if (strcasecmp(word, everyday_words[i]) == 0)
			return true;
	return word[strspn(word, "0123456789")] == '\0';
}

static void add_name(struct secret_store *store, const char *word, const char *replacement)
{
	if (store->name_count == store->name_room) {
		store->name_room = store->name_room ? store->name_room * 2 : 32;
		struct name *more = reallocarray(store->names, store->name_room, sizeof(*more));

		if (!more)
			err_no_memory();
		store->names = more;
	}
	/* Longest first: "web1.example.org" before "web1". */
	size_t at = store->name_count++;

	while (at && strlen(store->names[at - 1].word) < strlen(word)) {
		store->names[at] = store->names[at - 1];
		at--;
	}
	store->names[at] = (struct name){.word = word, .replacement = replacement, .everyday = is_everyday(word)};
}

static bool is_name(enum secret_kind kind)
{
	return kind == SECRET_HOST || kind == SECRET_VM || kind == SECRET_USER;
}

/* Under another kind the same word keeps its replacement: a user may have a VM of his name. */
static const char *known_name(const struct secret_store *store, const char *word)
{
	for (size_t i = 0; i < store->name_count; i++)
		if (text_equal(store->names[i].word, word))
			return store->names[i].replacement;
	return NULL;
}

static const struct secret *remember(struct secret_store *store, enum secret_kind kind, const char *key,
				     const char *replacement)
{
	struct secret *secret = ARENA_NEW(store->arena, struct secret);

	*secret = (struct secret){.kind = kind, .key = arena_strdup(store->arena, key), .replacement = replacement};
	if (!tsearch(secret, &store->by_key, compare_keys) ||
	    !tsearch(secret, &store->by_replacement, compare_replacements))
		err_no_memory();
	store->count++;
	if (!is_name(kind))
		return secret;
	add_name(store, secret->key, replacement);
	/* Of a full host name the first part is a name of its own, and the domain one too. */
	const char *dot = kind == SECRET_HOST ? strchr(secret->key, '.') : NULL;

	if (dot && dot > secret->key && dot[1]) {
		add_name(store, arena_strndup(store->arena, secret->key, (size_t)(dot - secret->key)), replacement);
		add_name(store, dot + 1, "example.net");
	}
	return secret;
}

/* One spelling for each address: "FD00:0::1" is "fd00::1". */
static const char *plain_ipv6(struct arena *arena, const char *text)
{
	struct in6_addr address;
	char plain[INET6_ADDRSTRLEN];

	if (inet_pton(AF_INET6, text, &address) != 1 || !inet_ntop(AF_INET6, &address, plain, sizeof(plain)))
		return text;
	return arena_strdup(arena, plain);
}

const char *secret_replace(struct secret_store *store, enum secret_kind kind, const char *secret)
{
	bool is_hex_kind = kind == SECRET_SHAPE || kind == SECRET_MAC;
	const char *digits = is_hex_kind ? hex_digits(store->arena, secret) : NULL;
	const char *key = digits ? digits : kind == SECRET_IPV6 ? plain_ipv6(store->arena, secret) : secret;
	/* A MAC address is the same secret in a serial number. */
	enum secret_kind kept_kind = digits ? SECRET_MAC : kind;
	const struct secret wanted = {.kind = kept_kind, .key = key, .replacement = key};

	if (tfind(&wanted, &store->by_replacement, compare_replacements))
		return arena_strdup(store->arena, secret);
	void *found = tfind(&wanted, &store->by_key, compare_keys);
	const struct secret *known = found ? *(struct secret *const *)found : NULL;

	if (!known && is_name(kind) && known_name(store, secret))
		return known_name(store, secret);
	if (!known) {
		const char *drawn = digits ? draw_digits(store->arena, digits, kind == SECRET_MAC)
					   : draw_replacement(store->arena, kind, secret);

		known = remember(store, kept_kind, key, drawn);
	}
	return digits ? in_form_of(store->arena, secret, known->replacement) : known->replacement;
}

static bool stands_alone(const char *line, const char *at, size_t length)
{
	return (at == line || !isalnum((unsigned char)at[-1])) && !isalnum((unsigned char)at[length]);
}

const char *secret_replace_names(struct secret_store *store, struct arena *arena, const char *line, bool all)
{
	for (size_t i = 0; i < store->name_count; i++) {
		const struct name *name = &store->names[i];
		size_t length = strlen(name->word);

		if (!length || (name->everyday && !all))
			continue;
		for (const char *at = line; (at = strcasestr(at, name->word));) {
			if (!stands_alone(line, at, length)) {
				at += 1;
				continue;
			}
			size_t before = (size_t)(at - line);

			line = arena_printf(arena, "%.*s%s%s", (int)before, line, name->replacement, at + length);
			at = line + before + strlen(name->replacement);
		}
	}
	return line;
}
