/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Owns the knobs of the firmware of EPYC (HSMP). Sources: Documentation/arch/x86/amd_hsmp.rst and
 * arch/x86/include/uapi/asm/amd_hsmp.h of Linux, AMD's e_smi library.
 *
 * Only that is set which is also told, so that it can be put back: the power limit; the power mode and idle states of
 * the data fabric where the kernel lets them be read (Linux 7.2). The P-state of the fabric (messages 0Dh, 0Eh, 22h) is
 * told by no kernel.
 */
#include <errno.h>

#include "cpuset.h"
#include "knob_plan.h"
#include "knob_table.h"
#include "sys_write_hsmp.h"
#include "text.h"

enum hsmp_id {
	HSMP_PROTOCOL = 0x03,
	HSMP_SET_LIMIT = 0x05,
	HSMP_GET_LIMIT = 0x06,
	HSMP_GET_MOST = 0x07,
	HSMP_POWER_MODE = 0x21,
	HSMP_FABRIC_IDLE = 0x28
};
enum { MOST_MODE = 3 }; /* modes 4 and 5 have parameters that are not told */

/* As told by message 03h (AMD's e_smi library): 2 Milan, 5 Genoa and Bergamo, 7 Turin. */
enum { PROTOCOL_GENOA = 5, PROTOCOL_TURIN = 7 };

/* Messages that both set and tell: this bit asks. */
#define HSMP_ASKS UINT32_C(0x80000000)

/* From "/dev/hsmp power_limit socket 1". */
static uint16_t socket_of(const char *where)
{
	const char *blank = strrchr(where, ' ');
	int64_t socket;

	return blank && text_int(blank + 1, 10, &socket) == 0 ? (uint16_t)socket : UINT16_MAX;
}

static int ask(struct knob_machine *machine, const char *where, uint32_t id, uint16_t arguments, uint32_t argument,
	       uint32_t *ret, struct err *err)
{
	struct sys_hsmp_message message = {.id = id,
					   .argument_count = arguments,
					   .response_count = 1,
					   .arguments = {argument},
					   .socket = socket_of(where)};
	int r = sys_writer_hsmp(machine->writer, &message, false, err);

	if (r == 0)
		*ret = message.arguments[0];
	return r;
}

/*
 * As ask(), of a message that firmware of that protocol and later ones know (asking an earlier one would leave an error
 * in the kernel's log), and older kernels only as one that sets: there it is refused (EINVAL, EPERM).
 */
static int ask_setting(struct knob_machine *machine, const char *where, uint32_t id, uint32_t protocol, uint32_t *ret,
		       struct err *err)
{
	uint32_t has = 0;
	int r = ask(machine, where, HSMP_PROTOCOL, 0, 0, &has, err);

	if (r == 0 && has < protocol)
		return err_set(err, EOPNOTSUPP, where,
			       "the firmware of this CPU has no such setting: its protocol is %u, and %u is asked for",
			       has, protocol);
	if (r == 0)
		r = ask(machine, where, id, 1, HSMP_ASKS, ret, err);
	return r == -EINVAL || r == -EPERM
		   ? err_set(err, EOPNOTSUPP, where,
			     "this kernel does not tell what is set now (Linux 7.2 does), so it could not be put back")
		   : r;
}

static int tell(struct knob_machine *machine, const char *where, uint32_t id, uint32_t argument, struct err *err)
{
	struct sys_hsmp_message message = {
	    .id = id, .argument_count = 1, .arguments = {argument}, .socket = socket_of(where)};

	return sys_writer_hsmp(machine->writer, &message, true, err);
}

/* The sockets of this machine. */
static int expand_sockets(struct knob_machine *machine, const struct knob *knob, const struct knob_ask *asked,
			  struct knob_points *points, struct err *err)
{
	struct cpuset sockets = {0}, wanted = cpuset_range(0, CPUSET_MAX - 1);
	const struct sys_look *cpus = sys_list(machine->sys, "/sys/devices/system/cpu");
	struct err ignored = {0};
	int64_t socket;

	if (asked->where && (cpuset_parse(asked->where, &wanted, &ignored) < 0 || cpuset_empty(&wanted)))
		return err_set(err, EINVAL, asked->where, "%s@WHERE takes a list of sockets such as 0-1", asked->name);
	for (size_t i = 0; cpus->state == SYS_VALUE && i < cpus->size; i++) {
		const struct sys_look *look =
		    sys_read(machine->sys, "/sys/devices/system/cpu/%s/topology/physical_package_id", cpus->names[i]);

		if (look->state == SYS_VALUE && text_int(look->data, 10, &socket) == 0 && socket >= 0 &&
		    socket < CPUSET_MAX)
			cpuset_add(&sockets, (int)socket);
	}
	if (asked->where && !cpuset_subset(&wanted, &sockets))
		return err_set(err, ENOENT, asked->where, "%s: there are the sockets %s", asked->name,
			       cpuset_format(machine->arena, &sockets));
	sockets = cpuset_and(&sockets, &wanted);
	CPUSET_FOREACH (number, &sockets)
		knob_points_add(points, &(struct knob_point){
					    .knob = knob,
					    .name = asked->name,
					    .where = arena_printf(machine->arena, SYS_HSMP_DEVICE " %s socket %d",
								  knob->name + strlen("hsmp."), number),
					    .label = arena_printf(machine->arena, "socket %d", number),
					    .new = asked->value,
					});
	return 0;
}

/* ---- the power limit */

/* Milliwatts as watts, with what is left over. */
static const char *watts(struct arena *arena, uint32_t milliwatts)
{
	char *text = arena_printf(arena, "%u.%03u", milliwatts / 1000, milliwatts % 1000);
	size_t length = strlen(text);

	while (text[length - 1] == '0')
		length--;
	text[length - (text[length - 1] == '.')] = '\0';
	return text;
}

/* "225" or "225.5"; false when it is something else. */
static bool parse_watts(const char *text, uint32_t *ret)
{
	uint32_t whole = 0, part = 0, scale = 1000;
	const char *at = text;

	for (; *at >= '0' && *at <= '9' && whole < 10000; at++)
		whole = 10 * whole + (uint32_t)(*at - '0');
	if (at == text || whole >= 10000)
		return false;
	if (*at == '.')
		for (at++; *at >= '0' && *at <= '9' && scale > 1; at++)
			part += (scale /= 10) * (uint32_t)(*at - '0');
	*ret = whole * 1000 + part;
	return !*at && at[-1] != '.';
}

static int get_limit(struct knob_machine *machine, const char *where, const char **ret, struct err *err)
{
	uint32_t milliwatts = 0;
	int r = ask(machine, where, HSMP_GET_LIMIT, 0, 0, &milliwatts, err);

	if (r == 0)
		*ret = watts(machine->arena, milliwatts);
	return r;
}

static int set_limit(struct knob_machine *machine, const char *where, const char *text, struct err *err)
{
	uint32_t milliwatts = 0;

	if (!text || !parse_watts(text, &milliwatts))
		return err_set(err, EINVAL, where, "takes watts");
	return tell(machine, where, HSMP_SET_LIMIT, milliwatts, err);
}

static bool same_watts(const char *a, const char *b)
{
	uint32_t one, other;

	return text_equal(a, b) || (parse_watts(a, &one) && parse_watts(b, &other) && one == other);
}

static const struct knob_actuator limit_message = {
    .name = "hsmp limit", .get = get_limit, .set = set_limit, .same = same_watts};

static int check_limit(struct knob_machine *machine, const struct knob_point *point, struct err *err)
{
	uint32_t milliwatts, most = 0;
	int r;

	if (!parse_watts(point->new, &milliwatts))
		return err_set(err, EINVAL, point->new, "%s takes watts, such as 225", point->name);
	r = ask(machine, point->where, HSMP_GET_MOST, 0, 0, &most, err);
	if (r < 0)
		return r;
	/* The firmware clips what is too much without a word. Far too little would all but stop the host: a slip. */
	if (milliwatts > most || milliwatts < most / 4)
		return err_set(err, ERANGE, point->new, "%s of %s takes %s to %s W", point->name, point->label,
			       watts(machine->arena, most / 4), watts(machine->arena, most));
	return 0;
}

static const struct knob power_limit = {
    .name = "hsmp.power_limit",
    .summary = "power that a socket may draw, kept by its firmware (EPYC)",
    .value = "watts",
    .unit = KNOB_OF_SOCKETS,
    .actuator = &limit_message,
    .path = SYS_HSMP_DEVICE,
    .expand = expand_sockets,
    .rank = KNOB_RANK_PLAIN,
    .check = check_limit,
    .hurts = "all cores of the socket share less power, and clock lower under load",
};

/* ---- what both sets and tells */

static int get_mode(struct knob_machine *machine, const char *where, const char **ret, struct err *err)
{
	uint32_t mode = 0;
	int r = ask_setting(machine, where, HSMP_POWER_MODE, PROTOCOL_GENOA, &mode, err);

	if (r == 0)
		*ret = arena_printf(machine->arena, "%u", mode & 7);
	return r;
}

static int set_mode(struct knob_machine *machine, const char *where, const char *text, struct err *err)
{
	int64_t mode;

	if (!text || text_int(text, 10, &mode) < 0 || mode < 0 || mode > MOST_MODE)
		return err_set(err, EINVAL, where, "takes 0 to %d", MOST_MODE);
	return tell(machine, where, HSMP_POWER_MODE, (uint32_t)mode, err);
}

static const struct knob_actuator mode_message = {.name = "hsmp mode", .get = get_mode, .set = set_mode};

static int check_mode(struct knob_machine *machine, const struct knob_point *point, struct err *err)
{
	int64_t now;

	(void)machine;
	if (!point->old || text_int(point->old, 10, &now) < 0 || now <= MOST_MODE)
		return 0;
	return err_set(err, EOPNOTSUPP, point->label,
		       "is in power mode %s, whose parameters are not told and could not be put back", point->old);
}

static const struct knob power_mode = {
    .name = "hsmp.power_mode",
    .summary = "0 high performance, 1 efficiency, 2 I/O, 3 balanced memory (EPYC 9004 on, Linux 7.2)",
    .value = "0-3",
    .unit = KNOB_OF_SOCKETS,
    .actuator = &mode_message,
    .path = SYS_HSMP_DEVICE,
    .expand = expand_sockets,
    .least = 0,
    .most = MOST_MODE,
    .rank = KNOB_RANK_PLAIN - 1,
    .check = check_mode,
    .hurts = "modes other than 0 hold back the fabric or boost; what they cost depends on the load, so measure it",
};

static int get_fabric_idle(struct knob_machine *machine, const char *where, const char **ret, struct err *err)
{
	uint32_t state = 0;
	int r = ask_setting(machine, where, HSMP_FABRIC_IDLE, PROTOCOL_TURIN, &state, err);

	if (r == 0)
		*ret = state & 1 ? "on" : "off";
	return r;
}

static int set_fabric_idle(struct knob_machine *machine, const char *where, const char *text, struct err *err)
{
	return tell(machine, where, HSMP_FABRIC_IDLE, text_equal(text, "on") ? 1 : 0, err);
}

static const struct knob_actuator fabric_idle_message = {
    .name = "hsmp fabric idle", .get = get_fabric_idle, .set = set_fabric_idle};

static const struct knob fabric_idle = {
    .name = "hsmp.df_cstates",
    .summary = "whether the data fabric of a socket may sleep when all is idle (EPYC 9005, Linux 7.2)",
    .value = "on|off",
    .unit = KNOB_OF_SOCKETS,
    .actuator = &fabric_idle_message,
    .path = SYS_HSMP_DEVICE,
    .expand = expand_sockets,
    .words = "on off",
    .rank = KNOB_RANK_PLAIN,
    .hurts = "off costs watts of an idle socket; on lets memory and devices wait until the fabric is awake",
};

/* ---- what is told by nobody */

static int refuse_fabric(struct knob_machine *machine, const struct knob *knob, const struct knob_ask *asked,
			 struct knob_points *points, struct err *err)
{
	(void)machine;
	(void)knob;
	(void)points;
	(void)err_set(
	    err, EOPNOTSUPP, asked->name,
	    "the firmware takes it, but no kernel tells which one was set before, so it could not be put back");
	return err_hint(err, "hsmp.power_mode chooses how the fabric behaves, and can be put back (Linux 7.2)");
}

static const struct knob fabric_state = {
    .name = "hsmp.df_pstate",
    .summary = "P-state of the data fabric: always refused, for it cannot be read and so not be put back",
    .value = "none",
    .unit = KNOB_OF_SOCKETS,
    .actuator = &mode_message,
    .expand = refuse_fabric,
    .rank = KNOB_RANK_PLAIN,
};

const struct knob *const knob_table_hsmp[] = {&power_limit, &power_mode, &fabric_idle, &fabric_state, NULL};
