/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Owns the tests of a journal that is not as hvtune left it: torn at any byte, damaged in the middle, of a newer
 * hvtune, of two boots, too large. Nothing of it is lost, and one line says what cannot be understood.
 */
#include <errno.h>
#include <sys/stat.h>
#include <zlib.h>

#include "crash.h"
#include "knob_status.h"
#include "text.h"
#include "unit.h"

enum { ROOM = 1 << 20 };

#define SWAPPINESS "/proc/sys/vm/swappiness"

static const char begin_old[] = "{\"t\":\"begin\",\"id\":1,\"boot\":\"first\",\"time\":1,\"what\":\"set swappiness=5\","
				"\"points\":[[\"swappiness\",\"" SWAPPINESS "\",\"\",\"60\",\"5\"]],\"guards\":[],"
				"\"steps\":[1]}";

static void path_of(const struct kernel *kernel, char ret[4096])
{
	(void)snprintf(ret, 4096, "%s%s", kernel->tree->root, KNOB_JOURNAL);
}

static size_t load(const struct kernel *kernel, char *ret)
{
	char path[4096];
	FILE *file;
	size_t size;

	path_of(kernel, path);
	file = fopen(path, "r");
	assert_non_null(file);
	size = fread(ret, 1, ROOM, file);
	(void)fclose(file);
	return size;
}

static void store(const struct kernel *kernel, const char *data, size_t size)
{
	tree_write_bytes(kernel->tree, KNOB_JOURNAL, data, size);
}

static void append(const struct kernel *kernel, const char *text)
{
	char path[4096];
	FILE *file;

	path_of(kernel, path);
	tree_add(kernel->tree, (const struct tree_file[]){{KNOB_STATE_DIR "/", NULL}, {NULL, NULL}});
	file = fopen(path, "a");
	assert_non_null(file);
	(void)fprintf(file, "%08lx %s\n", crc32_z(0, (const unsigned char *)text, strlen(text)), text);
	(void)fclose(file);
}

static void open_machine(struct kernel *kernel, struct knob_machine *ret)
{
	const struct sys_write_gate gate = kernel_gate(kernel);
	struct err err = {0};

	assert_int_equal(knob_machine_open(kernel->tree->root, &gate, ret, &err), 0);
}

static void assert_damage(struct kernel *kernel, const char *wanted)
{
	CLEANUP(knob_machine_close) struct knob_machine machine = {0};
	struct knob_journal journal = {0};
	struct err err = {0};

	open_machine(kernel, &machine);
	assert_int_equal(knob_journal_read(&machine, &journal, &err), 0);
	if (!wanted)
		assert_null(journal.damage);
	else
		assert_string_equal(journal.damage ? journal.damage : "none", wanted);
}

static int apply(struct kernel *kernel, const char *one, const char *other, struct err *err)
{
	const struct crash_scene scene = {NULL, {one, other}, NULL};

	return crash_apply(kernel, &scene, err);
}

static void assert_holds(const struct kernel *kernel, const char *path, const char *wanted)
{
	char text[4096];

	kernel_read(kernel, path, text, sizeof(text));
	assert_string_equal(text, wanted);
}

/* A whole journal of a change and its undo. */
static size_t whole_journal(struct kernel *kernel, char *ret)
{
	struct err err = {0};

	kernel_start(kernel, "active");
	assert_int_equal(apply(kernel, "swappiness=5", "ksm=0", &err), 0);
	return load(kernel, ret);
}

/* As it is when the power goes with that many whole records: a step is written once its record is. */
static void write_steps(struct kernel *kernel, const char *data, size_t lines)
{
	static const char *const values[][2] = {{SWAPPINESS, "5"}, {"/sys/kernel/mm/ksm/run", "0"}};
	bool other_first = strstr(data, "/ksm/run") < strstr(data, SWAPPINESS);

	for (size_t step = 0; step < 2; step++)
		if (lines >= 2 + 2 * step)
			kernel_write(kernel, values[step ^ other_first][0], values[step ^ other_first][1]);
}

/* Cut at each byte, undo puts everything back, and leaves no damage: what is torn is cut off, not continued. */
static void torn_at_every_byte(void **state)
{
	static char data[ROOM];
	struct kernel kernel;
	size_t size = whole_journal(&kernel, data), lines = 0;
	struct err err = {0};

	(void)state;
	assert_int_equal(crash_undo(&kernel, &err), 0);
	CLEANUP(base_free) char *before = kernel_dump(&kernel);

	for (size_t cut = 0; cut <= size; cut++) {
		char how[64];

		(void)snprintf(how, sizeof(how), "cut at %zu of %zu", cut, size);
		lines += cut && data[cut - 1] == '\n';
		write_steps(&kernel, data, lines);
		store(&kernel, data, cut);
		crash_check_undone(&kernel, before, how);
		assert_damage(&kernel, NULL);
		assert_int_equal(crash_undo(&kernel, &err), -ENOENT);
	}
	assert_int_equal(lines, 6);
	kernel_stop(&kernel);
}

/* Any byte of any record but the first may be wrong: both values come back, and a line tells where it is. */
static void damaged_at_every_byte(void **state)
{
	static char data[ROOM];
	struct kernel kernel;
	size_t size = whole_journal(&kernel, data), line = 1;

	(void)state;
	for (size_t at = 0; at < size; at++) {
		char kept = data[at], wanted[256];
		struct err err = {0};
		bool first = line == 1;

		if (kept == '\n') {
			line++;
			continue;
		}
		kernel_write(&kernel, SWAPPINESS, "5");
		kernel_write(&kernel, "/sys/kernel/mm/ksm/run", "0");
		data[at] = (char)0xff;
		store(&kernel, data, size);
		data[at] = kept;
		if (!first) {
			(void)snprintf(wanted, sizeof(wanted),
				       KNOB_JOURNAL
				       ": 1 record cannot be understood, the first in line %zu; they stay there",
				       line);
			assert_damage(&kernel, wanted);
		}
		assert_int_equal(crash_undo(&kernel, &err), first ? -ENOENT : 0);
		assert_holds(&kernel, SWAPPINESS, first ? "5" : "60");
		assert_holds(&kernel, "/sys/kernel/mm/ksm/run", first ? "0" : "1");
	}
	assert_true(line > 5);
	kernel_stop(&kernel);
}

static void of_a_newer_hvtune(void **state)
{
	static const char unknown_knob[] =
	    "{\"t\":\"begin\",\"id\":2,\"boot\":\"first\",\"time\":1,\"what\":\"set warp=9\",\"speed\":9,"
	    "\"points\":[[\"warp\",\"/sys/warp\",\"\",\"1\",\"9\"],[\"ksm\",\"/sys/kernel/mm/ksm/run\",\"\",\"1\","
	    "\"0\"]],\"guards\":[],\"steps\":[1,1]}";
	struct kernel kernel;
	struct err err = {0};

	(void)state;
	kernel_start(&kernel, "active");
	append(&kernel, begin_old);
	append(&kernel, "{\"t\":\"step\",\"id\":1,\"step\":0,\"state\":\"written\"}");
	append(&kernel, "{\"t\":\"note\",\"id\":1,\"text\":\"x\"}");
	append(&kernel, "{\"t\":\"end\",\"id\":1,\"state\":\"done\",\"now\":[\"5\"],\"moved\":[]}");
	append(&kernel, unknown_knob);
	append(&kernel, "{\"t\":\"step\",\"id\":2,\"step\":1,\"state\":\"written\"}");
	append(&kernel, "{\"t\":\"end\",\"id\":2,\"state\":\"done\"}");
	kernel_write(&kernel, SWAPPINESS, "5");
	kernel_write(&kernel, "/sys/kernel/mm/ksm/run", "0");
	assert_damage(&kernel,
		      KNOB_JOURNAL ": 1 record is of a kind that only a newer hvtune knows, the first in line 3; "
				   "they stay there");
	/* What is known is put back, the rest is told, and the change stays in force for the newer one. */
	assert_int_equal(crash_undo(&kernel, &err), -EIO);
	assert_non_null(strstr(err.what, "no such knob"));
	assert_holds(&kernel, "/sys/kernel/mm/ksm/run", "1");
	assert_int_equal(crash_undo(&kernel, &err), -EIO);
	{
		CLEANUP(knob_machine_close) struct knob_machine machine = {0};
		struct knob_report report = {0};

		open_machine(&kernel, &machine);
		assert_int_equal(knob_undo(&machine, 1, &report, &err), 0);
		assert_non_null(report.damage);
	}
	assert_holds(&kernel, SWAPPINESS, "60");
	kernel_stop(&kernel);
}

/* Lines that no hvtune wrote, right checksums and all. */
static void nonsense(void **state)
{
	static const char *const lines[] = {
	    "null",
	    "[]",
	    "7",
	    "{}",
	    "{\"t\":7}",
	    "{\"t\":\"begin\"}",
	    "\xff\xfe",
	    "{\"t\":\"note\xff\"}",
	    ("{\"t\":\"begin\",\"id\":4294967295,\"boot\":\"first\",\"time\":1,\"what\":\"x\",\"points\":[],"
	     "\"guards\":[],\"steps\":[]}"),
	    ("{\"t\":\"begin\",\"id\":7,\"boot\":\"first\",\"time\":1,\"what\":\"x\",\"points\":[[\"ksm\"]],"
	     "\"guards\":[],\"steps\":[1]}"),
	    ("{\"t\":\"begin\",\"id\":7,\"boot\":\"first\",\"time\":1,\"what\":\"x\",\"points\":[],\"guards\":[],"
	     "\"steps\":[9223372036854775807]}"),
	    "{\"t\":\"step\",\"id\":1,\"step\":-1,\"state\":\"written\"}",
	    "{\"t\":\"step\",\"id\":1,\"step\":1,\"state\":\"written\"}",
	    "{\"t\":\"step\",\"id\":3,\"step\":0,\"state\":\"written\"}",
	    "{\"t\":\"end\",\"id\":1}",
	};
	char wanted[256];
	struct kernel kernel;
	struct err err = {0};

	(void)state;
	kernel_start(&kernel, "active");
	append(&kernel, begin_old);
	for (size_t i = 0; i < ARRAY_SIZE(lines); i++)
		append(&kernel, lines[i]);
	(void)snprintf(wanted, sizeof(wanted),
		       KNOB_JOURNAL ": %zu records cannot be understood, the first in line 2; they stay there",
		       ARRAY_SIZE(lines));
	assert_damage(&kernel, wanted);
	kernel_write(&kernel, SWAPPINESS, "5");
	assert_int_equal(crash_undo(&kernel, &err), 0);
	assert_holds(&kernel, SWAPPINESS, "60");
	/* The next change has an id of its own. */
	assert_int_equal(apply(&kernel, "swappiness=7", NULL, &err), 0);
	assert_int_equal(crash_undo(&kernel, &err), 0);
	assert_damage(&kernel, wanted);
	kernel_stop(&kernel);
}

/* What a boot has put back is not in force, what was set since is; a text in no UTF-8 comes back byte for byte. */
static void of_two_boots(void **state)
{
	static const char other[] =
	    "{\"t\":\"begin\",\"id\":2,\"boot\":\"second\",\"time\":2,\"what\":\"set ksm=0\","
	    "\"points\":[[\"ksm\",\"/sys/kernel/mm/ksm/run\",[195,40],\"1\",\"0\"]],\"guards\":[],"
	    "\"steps\":[1]}";
	CLEANUP(knob_machine_close) struct knob_machine machine = {0};
	struct knob_journal journal = {0};
	struct kernel kernel;
	struct err err = {0};
	unsigned *ids;

	(void)state;
	kernel_start(&kernel, "active");
	append(&kernel, begin_old);
	append(&kernel, "{\"t\":\"step\",\"id\":1,\"step\":0,\"state\":\"writing\"}");
	kernel_reboot(&kernel, "active", "second");
	append(&kernel, other);
	append(&kernel, "{\"t\":\"step\",\"id\":2,\"step\":0,\"state\":\"writing\"}");
	kernel_write(&kernel, "/sys/kernel/mm/ksm/run", "0");
	open_machine(&kernel, &machine);
	assert_int_equal(knob_journal_read(&machine, &journal, &err), 0);
	assert_null(journal.damage);
	assert_string_equal(journal.changes[1].points[0].label, "\xc3(");
	assert_int_equal(knob_in_force(&machine, &journal, &ids), 1);
	assert_int_equal(ids[0], 2);
	assert_int_equal(crash_undo(&kernel, &err), 0);
	assert_holds(&kernel, "/sys/kernel/mm/ksm/run", "1");
	assert_int_equal(crash_undo(&kernel, &err), -ENOENT);
	/* What the boot has cleared was cut short, and nothing waits for it to be put back. */
	assert_int_equal(apply(&kernel, "swappiness=7", NULL, &err), 0);
	assert_holds(&kernel, SWAPPINESS, "7");
	assert_int_equal(crash_undo(&kernel, &err), 0);
	assert_holds(&kernel, SWAPPINESS, "60");
	kernel_stop(&kernel);
}

/* The first change of a machine has no journal to read: that is no fault, and none is told. */
static void absent(void **state)
{
	struct kernel kernel;
	struct err err = {0};

	(void)state;
	kernel_start(&kernel, "active");
	assert_int_equal(apply(&kernel, "swappiness=5", NULL, &err), 0);
	assert_int_equal(err.code, 0);
	assert_string_equal(err.what, "");
	kernel_stop(&kernel);
}

static void append_note(const struct kernel *kernel, size_t size)
{
	static char data[ROOM + 512];
	size_t head = (size_t)snprintf(data, sizeof(data), "{\"t\":\"note\",\"text\":\"");

	memset(data + head, 'x', size);
	(void)snprintf(data + head + size, sizeof(data) - head - size, "\"}");
	append(kernel, data);
}

/* A record of a megabyte is read; a journal that could not be read any more is not made. */
static void huge(void **state)
{
	struct kernel kernel;
	struct err err = {0};

	(void)state;
	kernel_start(&kernel, "active");
	for (int i = 0; i < 7; i++)
		append_note(&kernel, ROOM);
	assert_int_equal(apply(&kernel, "swappiness=5", NULL, &err), 0);
	assert_int_equal(crash_undo(&kernel, &err), 0);
	/* Not compacted: what is not understood is kept. */
	assert_damage(&kernel,
		      KNOB_JOURNAL ": 7 records are of a kind that only a newer hvtune knows, the first in line 1; "
				   "they stay there");
	append_note(&kernel, ROOM - 30000);
	assert_int_equal(apply(&kernel, "swappiness=5", NULL, &err), -EFBIG);
	assert_non_null(strstr(err.what, "has grown to"));
	assert_string_equal(err.hint, "undo changes first: hvtune status");
	assert_holds(&kernel, SWAPPINESS, "60");
	kernel_stop(&kernel);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(torn_at_every_byte),
	    cmocka_unit_test(damaged_at_every_byte),
	    cmocka_unit_test(of_a_newer_hvtune),
	    cmocka_unit_test(nonsense),
	    cmocka_unit_test(of_two_boots),
	    cmocka_unit_test(absent),
	    cmocka_unit_test(huge),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
