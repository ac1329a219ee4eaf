/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Owns loading a shared library when it is needed. */
#include "library.h"

#include <dlfcn.h>

int library_load(const struct library *library, const struct library_function *functions, size_t count,
		 void **ret_handle, struct err *err)
{
	void *handle = NULL;

	for (size_t i = 0; i < LIBRARY_FILES && library->files[i] && !handle; i++)
		handle = dlopen(library->files[i], RTLD_NOW | RTLD_LOCAL);
	if (!handle) {
		(void)err_set(err, library->errnum, library->where, "%s cannot be loaded: %s", library->name,
			      dlerror());
		(void)err_hint(err, "install %s", library->install);
		return -library->errnum;
	}
	for (size_t i = 0; i < count; i++) {
		*functions[i].function = dlsym(handle, functions[i].name);
		if (!*functions[i].function)
			return err_set(err, library->errnum, library->where, "%s is too old: it has no %s",
				       library->name, functions[i].name);
	}
	if (ret_handle)
		*ret_handle = handle;
	return 0;
}
