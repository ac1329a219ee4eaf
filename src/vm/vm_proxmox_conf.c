/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Owns cutting a configuration of Proxmox into settings and sections. */
#include <ctype.h>
#include <errno.h>
#include <stdarg.h>

#include "text.h"
#include "vm_proxmox_internal.h"

enum { LINE_LIMIT = 8192, TEXT_LIMIT = 1024 * 1024 };

/* Settings of which at least one is in every configuration that says anything; "#" stands for a number. */
static const char known_settings[] =
    "acpi affinity agent amd-sev arch args audio# autostart balloon bios boot bootdisk cdrom cipassword ciuser cores "
    "cpu "
    "cpulimit cpuunits description efidisk# freeze hookscript hostpci# hotplug hugepages ide# ipconfig# ivshmem "
    "keephugepages kvm localtime lock machine memory meta migrate_downtime migrate_speed name net# numa numa# onboot "
    "ostype parallel# protection reboot rng# sata# scsi# scsihw serial# shares smbios# smp sockets startdate startup "
    "tablet tags tdf template tpmstate# unused# usb# vcpus vga virtio# virtiofs# vmgenid vmstatestorage watchdog";

/* "scsi0" is "scsi#" in the list. */
static bool is_known(struct arena *arena, const char *key)
{
	size_t length = strlen(key);

	while (length > 1 && isdigit((unsigned char)key[length - 1]))
		length--;
	if (length == strlen(key))
		return text_has_word(known_settings, " ", key);
	return text_has_word(known_settings, " ", arena_printf(arena, "%.*s#", (int)length, key));
}

static size_t key_length(const char *line)
{
	size_t length = strspn(line, "abcdefghijklmnopqrstuvwxyz_-");

	return length ? length + strspn(line + length, "0123456789") : 0;
}

/* Hookscripts of the kind of pve-helpers read this from the description, with or without the "#". */
static void look_for_taskset(struct pve_conf *conf, const char *line, unsigned number)
{
	static const char word[] = "cpu_taskset ";
	const char *found = strstr(line, word);
	struct cpuset cpus;

	if (!found)
		return;
	const char *list = found + strlen(word);
	const char *text = arena_strndup(conf->arena, list, strspn(list, "0123456789,-"));

	if (!*text || cpuset_parse(text, &cpus, NULL) < 0)
		return;
	conf->taskset = text;
	conf->taskset_place = (struct vm_place){.line = number, .column = (unsigned)(list - line + 1)};
}

static void take_setting(struct pve_conf *conf, const char *line, unsigned number)
{
	size_t length = key_length(line);

	if (!length || line[length] != ':') {
		conf->odd_line = conf->odd_line ? conf->odd_line : number;
		return;
	}
	const char *value = line + length + 1;

	while (*value == ' ' || *value == '\t')
		value++;
	conf->settings[conf->count++] = (struct pve_setting){.key = arena_strndup(conf->arena, line, length),
							     .value = text_trim(conf->arena, value),
							     .line = number,
							     .column = (unsigned)(value - line + 1)};
}

static void take_line(struct pve_conf *conf, const char *line, unsigned number)
{
	struct pve_section *section = conf->section_count ? &conf->sections[conf->section_count - 1] : NULL;
	const char *close = line[0] == '[' ? strchr(line, ']') : NULL;

	if (close) {
		conf->sections[conf->section_count++] =
		    (struct pve_section){.name = arena_strndup(conf->arena, line + 1, (size_t)(close - line - 1)),
					 .first = number,
					 .last = number};
		return;
	}
	if (!line[strspn(line, " \t\r")])
		return;
	if (section)
		section->last = number;
	else if (line[0] == '#')
		look_for_taskset(conf, line, number);
	else
		take_setting(conf, line, number);
}

static const char *vmid_of(struct arena *arena, const char *path)
{
	const char *slash = strrchr(path, '/'), *name = slash ? slash + 1 : path;
	size_t digits = strspn(name, "0123456789");

	return digits && digits < 10 && text_starts(name + digits, ".conf") ? arena_strndup(arena, name, digits) : NULL;
}

int pve_conf_parse(struct pve_conf *conf, const char *text, size_t size)
{
	unsigned lines = 1, number = 0;

	if (size > TEXT_LIMIT)
		return err_set(conf->err, EFBIG, conf->path, "more than %d KiB are no configuration of a VM",
			       TEXT_LIMIT / 1024);
	for (size_t i = 0; i < size; i++)
		lines += text[i] == '\n';
	if (lines > LINE_LIMIT)
		return err_set(conf->err, E2BIG, conf->path, "more than %d lines", LINE_LIMIT);
	conf->vmid = vmid_of(conf->arena, conf->path);
	conf->settings = ARENA_ARRAY(conf->arena, lines, struct pve_setting);
	conf->sections = ARENA_ARRAY(conf->arena, lines, struct pve_section);
	for (size_t at = 0; at < size;) {
		const char *end = memchr(text + at, '\n', size - at);
		size_t length = end ? (size_t)(end - text) - at : size - at;

		take_line(conf, arena_strndup(conf->arena, text + at, length), ++number);
		at += length + 1;
	}
	const char *description = pve_value(conf, "description");

	if (description && !conf->taskset)
		look_for_taskset(conf, description, pve_setting(conf, "description")->line);
	for (int i = 0; i < conf->count; i++)
		if (is_known(conf->arena, conf->settings[i].key))
			return 0;
	return err_set(conf->err, EINVAL, conf->path, "no setting of a VM of Proxmox is in here");
}

bool vm_looks_like_proxmox(const char *text, size_t size)
{
	CLEANUP(arena_free_pointer) struct arena *arena = arena_new();
	struct pve_conf conf = {.arena = arena, .path = ""};

	return !memchr(text, '\0', size) && pve_conf_parse(&conf, text, size) == 0 && !conf.odd_line;
}

const struct pve_setting *pve_setting(const struct pve_conf *conf, const char *key)
{
	for (int i = conf->count - 1; i >= 0; i--)
		if (text_equal(conf->settings[i].key, key))
			return &conf->settings[i];
	return NULL;
}

const char *pve_value(const struct pve_conf *conf, const char *key)
{
	const struct pve_setting *setting = pve_setting(conf, key);

	return setting ? setting->value : NULL;
}

int pve_number(const struct pve_conf *conf, const char *key, int otherwise, int least, int most, int *ret)
{
	const struct pve_setting *setting = pve_setting(conf, key);
	int64_t number = otherwise;

	if (setting && text_int(setting->value, 10, &number) < 0)
		return err_set_at(conf->err, EINVAL, conf->path, setting->line, setting->column,
				  "%s: \"%.60s\" is no number", key, setting->value);
	if (setting && (number < least || number > most))
		return err_set_at(conf->err, ERANGE, conf->path, setting->line, setting->column,
				  "%s: %lld is not between %d and %d", key, (long long)number, least, most);
	*ret = (int)number;
	return 0;
}

bool pve_switch(const struct pve_conf *conf, const char *key, bool otherwise)
{
	int on = qemu_switch(pve_value(conf, key));

	return on < 0 ? otherwise : on == 1;
}

int pve_properties(const struct pve_conf *conf, const struct pve_setting *setting, const char *implied,
		   struct qemu_options *ret)
{
	const struct qemu_word word = {.text = setting->value, .line = setting->line, .column = setting->column};

	return qemu_options_read(conf->arena, conf->path, &word, implied, ret, conf->err);
}

int pve_add(struct pve_conf *conf, const struct pve_setting *from, const char *option, const char *format, ...)
{
	struct qemu_word word = {.text = option, .line = from ? from->line : 0, .column = from ? from->column : 0};
	int outcome = qemu_words_add(&conf->words, conf->path, word, conf->err);
	va_list arguments;

	va_start(arguments, format);
	word.text = arena_vprintf(conf->arena, format, arguments);
	va_end(arguments);
	return outcome < 0 ? outcome : qemu_words_add(&conf->words, conf->path, word, conf->err);
}

const char *pve_each(struct arena *arena, const char *key, const char *list)
{
	size_t parts = 1, length = 0;

	for (const char *at = list; *at; at++)
		parts += *at == ';';
	size_t room = strlen(list) + parts * (strlen(key) + 2) + 1;
	char *all = arena_alloc(arena, room);

	for (const char *at = list; *at;) {
		size_t part = strcspn(at, ";");

		length += (size_t)snprintf(all + length, room - length, ",%s=%.*s", key, (int)part, at);
		at += part + strspn(at + part, ";");
	}
	return all;
}

bool pve_is_foreign(const struct pve_conf *conf)
{
	return text_equal(pve_value(conf, "arch"), "aarch64");
}

bool pve_has_kvm(const struct pve_conf *conf)
{
	return pve_switch(conf, "kvm", true) && !pve_is_foreign(conf);
}

int pve_windows(const struct pve_conf *conf)
{
	static const struct {
		const char *ostype;
		int version;
	} types[] = {{"wxp", 5},  {"w2k", 5},  {"w2k3", 5},   {"w2k8", 6},  {"wvista", 6},
		     {"win7", 7}, {"win8", 8}, {"win10", 10}, {"win11", 11}};
	const char *ostype = pve_value(conf, "ostype");

	for (size_t i = 0; ostype && i < ARRAY_SIZE(types); i++)
		if (text_equal(ostype, types[i].ostype))
			return types[i].version;
	return 0;
}
