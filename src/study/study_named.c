/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Owns the workloads that are known by name. */
#include "study_named.h"

#include <string.h>

#include "study_reader.h"
#include "text.h"

extern const char study_named_text[]; /* made of data/workloads.yaml by tools/embed */

size_t study_named(struct arena *arena, const struct study_workload **ret)
{
	struct study study = {.file = "workloads.yaml"};
	struct study_mistakes mistakes = {.arena = arena};
	struct study_reader reader = {.arena = arena, .file = study.file, .study = &study, .mistakes = &mistakes};
	struct study_node *root;
	struct err err = {0};

	if (study_yaml_parse(arena, study.file, study_named_text, strlen(study_named_text), &root, &err) == 0)
		study_read_workloads(&reader, study_node_get(root, "workloads", NULL), NULL);
	/* The file is part of the program: a mistake in it is one of the program's, and a test reads it. */
	if (err.code || mistakes.count) {
		err_print(stderr, err.code ? &err : &mistakes.items[0]);
		abort();
	}
	*ret = study.workloads;
	return study.workload_count;
}

const struct study_workload *study_named_find(struct arena *arena, const char *name)
{
	const struct study_workload *all;
	size_t count = study_named(arena, &all);

	for (size_t i = 0; i < count; i++)
		if (text_equal(all[i].name, name))
			return &all[i];
	return NULL;
}

/* dpkg keeps a list of the files of each package; of those with several architectures under NAME:ARCH. */
static bool is_installed(struct sys *sys, const char *package)
{
	static const char *const kinds[] = {"", ":amd64", ":arm64", ":all"};

	for (size_t i = 0; i < ARRAY_SIZE(kinds); i++)
		if (sys_read(sys, "/var/lib/dpkg/info/%s%s.list", package, kinds[i])->state == SYS_VALUE)
			return true;
	return false;
}

const char *study_named_missing(struct sys *sys, const struct study_workload *workload)
{
	if (!sys_has_dir(sys, "/var/lib/dpkg/info"))
		return NULL;
	for (size_t i = 0; workload->packages && workload->packages[i]; i++)
		if (!is_installed(sys, workload->packages[i]))
			return workload->packages[i];
	return NULL;
}
