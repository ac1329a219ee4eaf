/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Owns the list of libvirt's VMs: whether to ask, how long to wait, and freeing it. */
#include "vm_libvirt.h"

#include <errno.h>
#include <pthread.h>
#include <time.h>

#include "config.h"
#include "text.h"
#include "vm_libvirt_api.h"

bool vm_libvirt_listens(struct sys *sys)
{
	const struct sys_look *look = sys_is_live(sys) ? sys_list(sys, "/run/libvirt") : NULL;

	if (!look || look->state != SYS_VALUE)
		return false;
	/* libvirtd's, and that of the newer daemon for QEMU alone. */
	for (size_t i = 0; i < look->size; i++)
		if (text_equal(look->names[i], "libvirt-sock-ro") || text_equal(look->names[i], "virtqemud-sock-ro"))
			return true;
	return false;
}

struct vm_libvirt *vm_libvirt_free(struct vm_libvirt *libvirt)
{
	if (!libvirt)
		return NULL;
	for (int i = 0; i < libvirt->count; i++) {
		(void)vm_free(libvirt->domains[i].running);
		(void)vm_free(libvirt->domains[i].declared);
	}
	(void)arena_free(libvirt->arena);
	return NULL;
}

void vm_libvirt_free_pointer(struct vm_libvirt **libvirt)
{
	*libvirt = vm_libvirt_free(*libvirt);
}

/* The question to libvirt, in a thread of its own, because libvirt's calls wait for ever where its daemon hangs. */
struct question {
	char *uri;
	struct vm_libvirt *answer;
	struct err err;
	int status;
};

static struct question *question_free(struct question *question)
{
	(void)vm_libvirt_free(question->answer);
	free(question->uri);
	free(question);
	return NULL;
}

static void *ask(void *pointer)
{
	struct question *question = pointer;

	question->status = vm_libvirt_ask(question->uri, &question->answer, &question->err);
	return NULL;
}

static int wait_for(struct question *question, struct err *err)
{
	pthread_t thread;
	struct timespec until = {0};
	int status = pthread_create(&thread, NULL, ask, question);

	if (status != 0)
		return err_set(err, status, question->uri, "no thread for asking libvirt");
	(void)clock_gettime(CLOCK_REALTIME, &until);
	until.tv_sec += VM_LIBVIRT_WAIT_S;
	if (pthread_timedjoin_np(thread, NULL, &until) == 0)
		return 0;
	(void)pthread_detach(thread);
	(void)err_set(err, ETIMEDOUT, question->uri, "libvirt does not answer for %d seconds", VM_LIBVIRT_WAIT_S);
	return err_hint(err, "does virsh list answer? systemctl status libvirtd virtqemud");
}

int vm_libvirt_read(const char *uri, struct vm_libvirt **ret, struct err *err)
{
	struct question *question = calloc(1, sizeof(*question));

	if (!question || !(question->uri = strdup(uri ? uri : VM_LIBVIRT_URI)))
		err_no_memory();

	int status = wait_for(question, err);

	if (status == -ETIMEDOUT)
		return status; /* the thread still has the question: it is not freed */
	if (status == 0)
		status = question->status;
	if (status == 0) {
		*ret = question->answer;
		question->answer = NULL;
	} else if (err && question->status < 0) {
		(void)err_copy(err, &question->err);
	}
	(void)question_free(question);
	return status;
}

#if !HVTUNE_LIBVIRT
int vm_libvirt_ask(const char *uri, struct vm_libvirt **ret, struct err *err)
{
	(void)ret;
	return err_set(err, ENOSYS, uri, "this hvtune was built without libvirt");
}
#endif
