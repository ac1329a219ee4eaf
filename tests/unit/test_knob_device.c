/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Owns the tests of knobs of devices: what is refused in the plan and why, and what is set and put back. */
#include <errno.h>

#include "kernel.h"
#include "knob_apply.h"
#include "sys_write_nic.h"
#include "text.h"
#include "unit.h"

#define FUNCTION "/sys/devices/pci0000:00/0000:00:03.1/0000:41:02.1"

enum { MOST_ASKS = 3 };

struct work {
	struct kernel kernel;
	struct knob_machine machine;
	struct knob_plan plan;
	struct knob_report report;
	struct err err;
};

static void start(struct work *work)
{
	*work = (struct work){0};
	kernel_start(&work->kernel, "active");
	kernel_add_devices(&work->kernel);
}

static void stop(struct work *work)
{
	knob_machine_close(&work->machine);
	kernel_stop(&work->kernel);
}

static int plan(struct work *work, const char *const asks[MOST_ASKS])
{
	const struct sys_write_gate gate = kernel_gate(&work->kernel);
	struct knob_ask parsed[MOST_ASKS];
	size_t count = 0;

	knob_machine_close(&work->machine);
	work->err = (struct err){0};
	assert_int_equal(knob_machine_open(work->kernel.tree->root, &gate, &work->machine, &work->err), 0);
	for (; count < MOST_ASKS && asks[count]; count++)
		assert_int_equal(knob_ask_parse(work->machine.arena, asks[count], &parsed[count], &work->err), 0);
	return knob_plan_make(&work->machine, parsed, count, &work->plan, &work->err);
}

struct refusal {
	const char *asks[MOST_ASKS];
	int r;
	const char *part;		   /* of where, what or hint */
	void (*before)(struct work *work); /* NULL: nothing */
};

static void give_to_vm(struct work *work)
{
	tree_write(work->kernel.tree, FUNCTION "/uevent", "DRIVER=vfio-pci\nPCI_CLASS=20000\n");
}

static void put_macvtap_on_top(struct work *work)
{
	tree_write(work->kernel.tree, FUNCTION "/net/eth0v1/upper_macvtap0", "->../../../../macvtap0");
}

static void put_into_bridge(struct work *work)
{
	tree_write(work->kernel.tree, FUNCTION "/net/eth0v1/brport/state", "3\n");
}

static void be_an_old_kernel(struct work *work)
{
	tree_write(work->kernel.tree, "/run/simulated/hsmp-old", "");
}

static void have_no_firmware(struct work *work)
{
	kernel_remove(&work->kernel, "/run/simulated/hsmp-limit0");
}

static void be_a_genoa(struct work *work)
{
	tree_write(work->kernel.tree, "/run/simulated/hsmp-protocol0", "5");
}

static void be_a_milan(struct work *work)
{
	tree_write(work->kernel.tree, "/run/simulated/hsmp-protocol0", "2");
}

static void be_in_mode_5(struct work *work)
{
	tree_write(work->kernel.tree, "/run/simulated/hsmp-mode1", "5");
}

static const struct refusal refusals[] = {
    {{"hsmp.power_limit=241"}, -ERANGE, "of socket 0 takes 60 to 240 W", NULL},
    {{"hsmp.power_limit@1=59.999"}, -ERANGE, "of socket 1 takes 60 to 240 W", NULL},
    {{"hsmp.power_limit@1=200W"}, -EINVAL, "takes watts", NULL},
    {{"hsmp.power_limit@1=200."}, -EINVAL, "takes watts", NULL},
    {{"hsmp.power_limit@1=-1"}, -EINVAL, "takes watts", NULL},
    {{"hsmp.power_limit@1=99999999999"}, -EINVAL, "takes watts", NULL},
    {{"hsmp.power_limit@2=200"}, -ENOENT, "there are the sockets 0-1", NULL},
    {{"hsmp.power_limit@x=200"}, -EINVAL, "takes a list of sockets", NULL},
    {{"hsmp.power_limit=200"}, -ENOENT, "no such setting", have_no_firmware},
    {{"hsmp.power_mode=4"}, -ERANGE, "takes 0 to 3", NULL},
    {{"hsmp.power_mode=1"}, -EOPNOTSUPP, "Linux 7.2 does", be_an_old_kernel},
    {{"hsmp.df_cstates=off"}, -EOPNOTSUPP, "Linux 7.2 does", be_an_old_kernel},
    {{"hsmp.power_mode=1"}, -EOPNOTSUPP, "protocol is 2, and 5 is asked for", be_a_milan},
    {{"hsmp.df_cstates=off"}, -EOPNOTSUPP, "protocol is 5, and 7 is asked for", be_a_genoa},
    {{"hsmp.power_mode=1"}, -EOPNOTSUPP, "is in power mode 5", be_in_mode_5},
    {{"hsmp.df_cstates=2"}, -EINVAL, "takes on off", NULL},
    {{"hsmp.df_pstate=0"}, -EOPNOTSUPP, "no kernel tells which one was set before", NULL},
    {{"nic.queues@eth0=9"}, -ERANGE, "eth0 has at most 8 queues", NULL},
    {{"nic.queues@eth0=0"}, -ERANGE, "takes 1 to 4096", NULL},
    {{"nic.queues@eth1=2"}, -ENOENT, "there is no such network device", NULL},
    {{"nic.queues@lo=1"}, -ENOENT, "no such setting at lo", NULL},
    {{"nic.queues@../eth0=2"}, -EINVAL, "takes names of devices", NULL},
    {{"nic.queues@eth0,,=2"}, -EINVAL, "takes names of devices", NULL},
    {{"nic.queues=2"}, -EINVAL, "nic.queues@eth0=2", NULL},
    {{"nic.queues@eth0=2", "irq@eth0=1"}, -EINVAL, "set the queues first", NULL},
    {{"sriov.vfs@eth0=9"}, -ERANGE, "eth0 has at most 8 virtual functions", NULL},
    {{"sriov.vfs@eth0=x"}, -EINVAL, "takes a number", NULL},
    {{"sriov.vfs@0000:41:00.1=1"}, -ENOENT, "there is no such device", NULL},
    {{"sriov.vfs@lo=1"}, -ENOENT, "there is no such device", NULL},
    {{"sriov.vfs=1"}, -EINVAL, "sriov.vfs@eth0=1", NULL},
    {{"sriov.vfs@eth0=4"}, -EBUSY, "0000:41:02.1: is given to a VM", give_to_vm},
    {{"sriov.vfs@eth0=0"}, -EBUSY, "0000:41:02.1: is given to a VM", give_to_vm},
    {{"sriov.vfs@eth0=4"}, -EBUSY, "is on top of it", put_macvtap_on_top},
    {{"sriov.vfs@eth0=4"}, -EBUSY, "is on top of it", put_into_bridge},
};

static void refused_in_the_plan(void **state)
{
	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(refusals); i++) {
		struct work work;
		char said[1200];
		int r;

		start(&work);
		if (refusals[i].before)
			refusals[i].before(&work);
		r = plan(&work, refusals[i].asks);
		(void)snprintf(said, sizeof(said), "%s: %s (%s)", work.err.where, work.err.what, work.err.hint);
		if (r != refusals[i].r || !strstr(said, refusals[i].part))
			fail_msg("%s: %d: %s", refusals[i].asks[0], r, said);
		stop(&work);
	}
}

/* The limit is the only one of them that older kernels tell too. */
static void limit_of_an_old_kernel(void **state)
{
	const struct knob_apply_options options = {.what = "a test"};
	struct work work;

	(void)state;
	start(&work);
	be_an_old_kernel(&work);
	assert_int_equal(plan(&work, (const char *const[MOST_ASKS]){"hsmp.power_limit@1=199.25"}), 0);
	assert_string_equal(work.plan.points.items[0].old, "225.5");
	assert_int_equal(knob_apply(&work.machine, &work.plan, &options, &work.report, &work.err), 0);
	assert_int_equal(kernel_number(&work.kernel, "/run/simulated/hsmp-limit1"), 199250);
	assert_int_equal(knob_undo(&work.machine, 0, &work.report, &work.err), 0);
	assert_int_equal(kernel_number(&work.kernel, "/run/simulated/hsmp-limit1"), 225500);
	stop(&work);
}

/* What is used by a VM is fine as long as nothing is taken away. */
static void the_same_number_is_no_change(void **state)
{
	struct work work;

	(void)state;
	start(&work);
	give_to_vm(&work);
	assert_int_equal(plan(&work, (const char *const[MOST_ASKS]){"sriov.vfs@eth0=2"}), 0);
	assert_int_equal(work.plan.points.count, 0);
	assert_int_equal(work.plan.already.count, 1);
	stop(&work);
}

/* Between the plan and the write, and before the undo, a VM may take a function. */
static void in_use_meanwhile(void **state)
{
	const struct knob_apply_options options = {.what = "a test"};
	struct work work;

	(void)state;
	start(&work);
	assert_int_equal(plan(&work, (const char *const[MOST_ASKS]){"sriov.vfs@eth0=4"}), 0);
	give_to_vm(&work);
	assert_int_equal(knob_apply(&work.machine, &work.plan, &options, &work.report, &work.err), -EBUSY);
	assert_int_equal(kernel_number(&work.kernel, "/sys/devices/pci0000:00/0000:00:03.1/0000:41:00.0/sriov_numvfs"),
			 2);
	stop(&work);
	start(&work);
	assert_int_equal(plan(&work, (const char *const[MOST_ASKS]){"sriov.vfs@eth0=4"}), 0);
	assert_int_equal(knob_apply(&work.machine, &work.plan, &options, &work.report, &work.err), 0);
	give_to_vm(&work);
	assert_int_equal(knob_undo(&work.machine, 0, &work.report, &work.err), -EIO);
	assert_non_null(strstr(work.err.what, "is given to a VM"));
	kernel_remove(&work.kernel, FUNCTION "/uevent");
	assert_int_equal(knob_undo(&work.machine, 0, &work.report, &work.err), 0);
	assert_int_equal(kernel_number(&work.kernel, "/sys/devices/pci0000:00/0000:00:03.1/0000:41:00.0/sriov_numvfs"),
			 2);
	stop(&work);
}

/* The kernel is really asked: the loopback has no queues to tell. */
static void on_this_machine(void **state)
{
	static const char *const none[] = {NULL};
	CLEANUP(sys_writer_close_pointer) struct sys_writer *writer = NULL;
	struct err err = {0};
	uint32_t count, most;

	(void)state;
	assert_int_equal(sys_writer_open("/", none, NULL, &writer, &err), 0);
	assert_int_equal(sys_writer_get_queues(writer, "lo", &count, &most, &err), -ENOENT);
	assert_string_equal(err.where, "lo");
	assert_int_equal(sys_writer_get_queues(writer, "a-name-that-is-too-long", &count, &most, &err), -ENOENT);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(refused_in_the_plan),
	    cmocka_unit_test(limit_of_an_old_kernel),
	    cmocka_unit_test(the_same_number_is_no_change),
	    cmocka_unit_test(in_use_meanwhile),
	    cmocka_unit_test(on_this_machine),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
