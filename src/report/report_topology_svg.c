/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Owns the topology as one SVG picture for reports: no scripts, no foreign fonts, a light ground of its own so that it
 * can stand on a dark page. Sizes are measured from the inside out, then everything is drawn from the outside in; L3
 * groups of a node are arranged in a grid of equal cells.
 */
#include <errno.h>

#include "config.h"
#include "report.h"
#include "report_svg.h"
#include "report_topology.h"
#include "text.h"

enum {
	PAGE_MARGIN = 24,
	PAGE_LEAST = 720,   /* narrower pictures would cut title and legend */
	INSIDE_MOST = 1180, /* wider ones are not readable on paper */
	THREAD_WIDTH = 34,
	THREAD_HEIGHT = 19,
	CORE_PAD = 3,
	CORE_GAP = 5,
	GROUP_PAD = 9,
	GROUP_HEAD = 24,
	GROUP_GAP = 12,
	NODE_PAD = 12,
	NODE_HEAD = 30,
	PACKAGE_PAD = 14,
	PACKAGE_HEAD = 34,
	LINE = 19,
	LEGEND_LINE = 22,
	TINTS = 8, /* classes of the style sheet */
};

struct size {
	int width, height;
};

struct picture {
	FILE *out;
	struct arena *arena;
	const struct host *host;
	const struct host_topology *topology;
	const struct layout *layout;
	const struct report_owners *owners; /* NULL: none are drawn */
	struct cpuset off;
};

/* ---- a grid of equal cells ---- */

struct grid {
	int columns, gap;
	struct size cell, whole;
};

static struct grid grid_of(const struct size *sizes, int count, int most_width, int gap)
{
	struct grid grid = {.gap = gap};

	for (int i = 0; i < count; i++) {
		grid.cell.width = MAX_OF(grid.cell.width, sizes[i].width);
		grid.cell.height = MAX_OF(grid.cell.height, sizes[i].height);
	}
	int fit = MAX_OF(1, (most_width + gap) / (grid.cell.width + gap));
	int rows = (count + fit - 1) / MAX_OF(fit, 1);

	/* Rows filled evenly: 12 in two rows of 6, not 7 and 5. */
	grid.columns = rows ? (count + rows - 1) / rows : 1;
	grid.whole.width = grid.columns * (grid.cell.width + gap) - gap;
	grid.whole.height = rows * (grid.cell.height + gap) - gap;
	return grid;
}

static int grid_x(const struct grid *grid, int index)
{
	return index % grid->columns * (grid->cell.width + grid->gap);
}

static int grid_y(const struct grid *grid, int index)
{
	return index / grid->columns * (grid->cell.height + grid->gap);
}

/* ---- L3 groups ---- */

/* Cores in a row: the smallest divisor not below the square root, so that rows are full and boxes are wide. */
static int cores_in_row(int cores)
{
	enum { MOST = 8 };

	if (cores <= 4)
		return MAX_OF(cores, 1);
	for (int row = 3; row <= MOST; row++)
		if (row * row >= cores && cores % row == 0)
			return row;
	return MOST;
}

static struct size core_size(const struct layout_group *group)
{
	return (struct size){THREAD_WIDTH + 2 * CORE_PAD, group->threads * THREAD_HEIGHT + 2 * CORE_PAD};
}

static const char *group_title(const struct picture *p, const struct layout_group *group)
{
	const struct topology_l3 *l3 = group->l3 >= 0 ? &p->topology->l3s[group->l3] : NULL;
	const char *title;

	if (!l3)
		return "L3 not known";
	title = arena_printf(p->arena, "%s %d", report_group_word(p->host), group->l3);
	if (l3->ccd >= 0 && p->topology->ccd_count < p->topology->l3_count)
		title = arena_printf(p->arena, "CCD %d · %s", l3->ccd, title);
	return title;
}

/* Right of the title: "32 MiB · id 4". */
static const char *group_note(const struct picture *p, const struct layout_group *group)
{
	const struct topology_l3 *l3 = group->l3 >= 0 ? &p->topology->l3s[group->l3] : NULL;
	const char *note = l3 && l3->size_kib > 0 ? text_kib(p->arena, l3->size_kib) : "";

	if (l3 && l3->id >= 0)
		note = arena_printf(p->arena, "%s%sid %d", note, *note ? " · " : "", (int)l3->id);
	return note;
}

static struct size group_size(const struct picture *p, const struct layout_group *group)
{
	struct size core = core_size(group);
	int columns = cores_in_row(group->column_count), rows = (group->column_count + columns - 1) / columns;
	int text = svg_text_width(group_title(p, group), 12) + svg_text_width(group_note(p, group), 11) + 14;

	return (struct size){
	    MAX_OF(columns * (core.width + CORE_GAP) - CORE_GAP, text) + 2 * GROUP_PAD,
	    GROUP_HEAD + rows * (core.height + CORE_GAP) - CORE_GAP + GROUP_PAD,
	};
}

static void draw_thread(const struct picture *p, int cpu, int x, int y)
{
	bool isolated = cpuset_has(&p->layout->isolated, cpu);
	const char *mark = p->owners ? p->owners->marks[cpu] : NULL;

	if (mark) {
		svg_rect(p->out, arena_printf(p->arena, "node tint%d", p->owners->tints[cpu] % TINTS), x, y,
			 THREAD_WIDTH, THREAD_HEIGHT - 2, 3);
		svg_text(p->out, "cpu", x + THREAD_WIDTH / 2, y + 13, arena_printf(p->arena, "%s %d", mark, cpu));
		return;
	}
	svg_rect(p->out, isolated ? "thread isolated" : "thread", x, y, THREAD_WIDTH, THREAD_HEIGHT - 2, 3);
	svg_text(p->out, "cpu", x + THREAD_WIDTH / 2, y + 13, arena_printf(p->arena, "%d", cpu));
}

static void draw_core(const struct picture *p, const struct layout_group *group, int column, int x, int y)
{
	struct size size = core_size(group);
	int thread = 0;
	bool preferred = cpuset_meets(&group->columns[column], &p->layout->preferred);

	svg_rect(p->out, preferred ? "core preferred" : "core", x, y, size.width, size.height, 5);
	CPUSET_FOREACH (cpu, &group->columns[column]) {
		draw_thread(p, cpu, x + CORE_PAD, y + CORE_PAD + 1 + thread++ * THREAD_HEIGHT);
	}
}

static void draw_group(const struct picture *p, const struct layout_group *group, int x, int y, struct size size)
{
	struct size core = core_size(group);
	int columns = cores_in_row(group->column_count);
	bool large = group->l3 >= 0 && p->topology->l3s[group->l3].large;

	svg_rect(p->out, large ? "group large" : "group", x, y, size.width, size.height, 7);
	svg_text(p->out, "group-title", x + GROUP_PAD, y + 16, group_title(p, group));
	svg_text(p->out, "group-note", x + size.width - GROUP_PAD, y + 16, group_note(p, group));
	for (int i = 0; i < group->column_count; i++)
		draw_core(p, group, i, x + GROUP_PAD + i % columns * (core.width + CORE_GAP),
			  y + GROUP_HEAD + i / columns * (core.height + CORE_GAP));
}

/* ---- nodes ---- */

static struct grid section_grid(const struct picture *p, const struct layout_section *section, int most_width)
{
	struct size *sizes = ARENA_ARRAY(p->arena, (size_t)section->group_count, struct size);

	for (int i = 0; i < section->group_count; i++)
		sizes[i] = group_size(p, &section->groups[i]);
	return grid_of(sizes, section->group_count, most_width, GROUP_GAP);
}

static const char *node_title(const struct picture *p, const struct topology_node *node)
{
	return arena_printf(p->arena, "Node %d", node->os_node);
}

static const char *node_note(const struct picture *p, const struct topology_node *node)
{
	const char *memory = report_node_memory(p->arena, node);

	return memory ? memory : "";
}

static struct size section_size(const struct picture *p, const struct layout_section *section, int most_width)
{
	struct size size = section_grid(p, section, most_width - 2 * NODE_PAD).whole;

	if (section->node >= 0) {
		const struct topology_node *node = &p->topology->nodes[section->node];
		int text = svg_text_width(node_title(p, node), 13) + svg_text_width(node_note(p, node), 12) + 20;

		size.width = MAX_OF(size.width, text);
	}
	return (struct size){size.width + 2 * NODE_PAD,
			     size.height + NODE_PAD + (section->node >= 0 ? NODE_HEAD : NODE_PAD)};
}

static void draw_section(const struct picture *p, const struct layout_section *section, int x, int y, struct size size,
			 int most_width)
{
	struct grid grid = section_grid(p, section, most_width - 2 * NODE_PAD);
	int top = y + NODE_PAD;

	if (section->node >= 0) {
		const struct topology_node *node = &p->topology->nodes[section->node];

		svg_rect(p->out, arena_printf(p->arena, "node tint%d", section->node % TINTS), x, y, size.width,
			 size.height, 9);
		svg_text(p->out, "node-title", x + NODE_PAD, y + 20, node_title(p, node));
		svg_text(p->out, node->memoryless ? "node-note missing" : "node-note", x + size.width - NODE_PAD,
			 y + 20, node_note(p, node));
		top = y + NODE_HEAD;
	}
	for (int i = 0; i < section->group_count; i++)
		draw_group(p, &section->groups[i], x + NODE_PAD + grid_x(&grid, i), top + grid_y(&grid, i), grid.cell);
}

/* ---- packages ---- */

static struct grid package_grid(const struct picture *p, const struct layout_package *package, int most_width)
{
	struct size *sizes = ARENA_ARRAY(p->arena, (size_t)package->section_count, struct size);

	for (int i = 0; i < package->section_count; i++)
		sizes[i] = section_size(p, &package->sections[i], most_width);
	return grid_of(sizes, package->section_count, most_width, GROUP_GAP);
}

static const char *package_title(const struct picture *p, const struct layout_package *package)
{
	return package->package < 0
		   ? "Package not known"
		   : arena_printf(p->arena, "Package %d", p->topology->packages[package->package].os_package);
}

static const char *count_text(const struct picture *p, int count, const char *what)
{
	return arena_printf(p->arena, "%d %s%s", count, what, count == 1 ? "" : "s");
}

static const char *package_note(const struct picture *p, const struct layout_package *package)
{
	const char *text = "";

	if (package->package < 0)
		return text;
	const struct topology_package *facts = &p->topology->packages[package->package];

	if (p->topology->core_known)
		text = arena_printf(p->arena, "%s · ", count_text(p, facts->core_count, "core"));
	text = arena_printf(p->arena, "%s%s", text, count_text(p, cpuset_count(&facts->cpus), "thread"));
	if (facts->ccd_count && facts->ccd_count != facts->l3_count)
		text = arena_printf(p->arena, "%s · %s", text, count_text(p, facts->ccd_count, "CCD"));
	return text;
}

static struct size package_size(const struct picture *p, const struct layout_package *package)
{
	struct size size = package_grid(p, package, INSIDE_MOST).whole;
	int text = svg_text_width(package_title(p, package), 14) + svg_text_width(package_note(p, package), 12) + 24;

	return (struct size){MAX_OF(size.width, text) + 2 * PACKAGE_PAD, size.height + PACKAGE_HEAD + PACKAGE_PAD};
}

static void draw_package(const struct picture *p, const struct layout_package *package, int x, int y, struct size size)
{
	struct grid grid = package_grid(p, package, INSIDE_MOST);
	int spare = size.width - 2 * PACKAGE_PAD - grid.whole.width;

	svg_rect(p->out, "package", x, y, size.width, size.height, 11);
	svg_text(p->out, "package-title", x + PACKAGE_PAD, y + 23, package_title(p, package));
	svg_text(p->out, "package-note", x + size.width - PACKAGE_PAD, y + 23, package_note(p, package));
	/* Room that a wider title or another package makes goes to the nodes. */
	grid.cell.width += spare / MAX_OF(grid.columns, 1);
	for (int i = 0; i < package->section_count; i++)
		draw_section(p, &package->sections[i], x + PACKAGE_PAD + grid_x(&grid, i),
			     y + PACKAGE_HEAD + grid_y(&grid, i), grid.cell, INSIDE_MOST);
}

static struct grid page_grid(const struct picture *p)
{
	const struct layout *layout = p->layout;
	struct size *sizes = ARENA_ARRAY(p->arena, (size_t)layout->package_count, struct size);

	for (int i = 0; i < layout->package_count; i++)
		sizes[i] = package_size(p, &layout->packages[i]);
	return grid_of(sizes, layout->package_count, INSIDE_MOST + 2 * PACKAGE_PAD, GROUP_GAP + 4);
}

/* ---- lines of text: the title above, remarks below ---- */

struct lines {
	struct arena *arena;
	const char *line[64];
	int count;
};

/* Flow a text into lines of at most `width` units at a font size. */
static void add_lines(struct lines *lines, const char *text, int font_size, int width)
{
	const char *line = "";

	while (*text && lines->count < (int)ARRAY_SIZE(lines->line)) {
		size_t length = strcspn(text, " ");
		const char *longer = arena_printf(lines->arena, "%s%s%.*s", line, *line ? " " : "", (int)length, text);

		if (*line && svg_text_width(longer, font_size) > width) {
			lines->line[lines->count++] = line;
			line = arena_strndup(lines->arena, text, length);
		} else {
			line = longer;
		}
		text += length;
		text += strspn(text, " ");
	}
	if (*line && lines->count < (int)ARRAY_SIZE(lines->line))
		lines->line[lines->count++] = line;
}

/* CPU lists break after commas. */
static const char *breakable(struct arena *arena, const struct cpuset *cpus)
{
	const char *list = cpuset_format(arena, cpus), *text = "";

	while (*list) {
		size_t length = strcspn(list, ",");

		text = arena_printf(arena, "%s%s%.*s", text, *text ? ", " : "", (int)length, list);
		list += length + (list[length] == ',');
	}
	return text;
}

static void add_node_lines(const struct picture *p, struct lines *lines, int width)
{
	for (int i = 0; i < p->topology->node_count; i++) {
		const struct topology_node *node = &p->topology->nodes[i];
		bool has_cpus = !cpuset_empty(&node->cpus);

		if (p->layout->nodes_nested && has_cpus)
			continue;
		const char *note = node_note(p, node);

		add_lines(lines,
			  arena_printf(p->arena, "%s: %s%s%s%s", node_title(p, node), has_cpus ? "CPUs " : "no CPUs",
				       breakable(p->arena, &node->cpus), *note ? ", " : "", note),
			  12, width);
	}
	const char *distances = report_distances(p->arena, p->host);

	if (distances)
		add_lines(lines, arena_printf(p->arena, "Distances: %s.", distances), 12, width);
}

static void add_remarks(const struct picture *p, struct lines *lines, int width)
{
	if (p->owners)
		add_lines(lines, p->owners->legend, 12, width);
	add_node_lines(p, lines, width);
	if (!cpuset_empty(&p->layout->isolated))
		add_lines(lines, arena_printf(p->arena, "Isolated: %s.", breakable(p->arena, &p->layout->isolated)), 12,
			  width);
	for (const char *const *remark = report_remarks(p->arena, p->host); *remark; remark++)
		add_lines(lines, *remark, 12, width);
}

/* ---- legend ---- */

/* Draw the legend in lines of `width`, or only measure it; returns its height. */
static int legend(const struct picture *p, int left, int y, int width, bool draw)
{
	bool zen = p->host->cpu.zen != ZEN_NONE;
	const struct {
		const char *class, *text;
		bool shown;
	} items[] = {
	    {"node tint0", "NUMA node", p->layout->nodes_nested},
	    {"group", zen ? "CCX: cores that share an L3" : "cores that share an L3", p->topology->l3_count > 0},
	    {"group large", "with the large L3", p->topology->x3d},
	    {"core", "core", p->topology->core_known},
	    {"core preferred", "preferred core (highest rank)", !cpuset_empty(&p->layout->preferred)},
	    {"thread", "thread, by its number in Linux", true},
	    {"thread isolated", "isolated", !cpuset_empty(&p->layout->isolated)},
	};

	int x = left, height = LEGEND_LINE;

	for (size_t i = 0; i < ARRAY_SIZE(items); i++) {
		int item = 28 + svg_text_width(items[i].text, 12);

		if (!items[i].shown)
			continue;
		if (x > left && x + item > left + width) {
			x = left;
			height += LEGEND_LINE;
		}
		if (draw) {
			svg_rect(p->out, items[i].class, x, y + height - LEGEND_LINE, 22, 14, 4);
			svg_text(p->out, "legend", x + 28, y + height - LEGEND_LINE + 11, items[i].text);
		}
		x += item + 16;
	}
	return height;
}

/* Offline CPUs are in no core that the kernel shows: a strip of grey ones. */
static int off_columns(int width)
{
	return MAX_OF(1, (width + CORE_GAP) / (THREAD_WIDTH + CORE_GAP));
}

static int off_height(const struct picture *p, int width)
{
	int count = cpuset_count(&p->off), columns = off_columns(width);

	return count ? (count + columns - 1) / columns * THREAD_HEIGHT + 34 : 0;
}

static void draw_off(const struct picture *p, int x, int y, int width)
{
	int columns = off_columns(width), at = 0;

	if (cpuset_empty(&p->off))
		return;
	svg_text(p->out, "node-title", x, y + 12, "Off line");
	CPUSET_FOREACH (cpu, &p->off) {
		int left = x + at % columns * (THREAD_WIDTH + CORE_GAP), top = y + 20 + at / columns * THREAD_HEIGHT;

		svg_rect(p->out, "thread off", left, top, THREAD_WIDTH, THREAD_HEIGHT - 2, 3);
		svg_text(p->out, "off-cpu", left + THREAD_WIDTH / 2, top + 13, arena_printf(p->arena, "%d", cpu));
		at++;
	}
}

int report_topology_svg(FILE *out, const struct host *host)
{
	return report_topology_svg_owners(out, host, NULL);
}

int report_topology_svg_owners(FILE *out, const struct host *host, const struct report_owners *owners)
{
	CLEANUP(arena_free_pointer) struct arena *arena = arena_new();
	struct picture picture = {.out = out,
				  .arena = arena,
				  .host = host,
				  .topology = &host->topology,
				  .layout = report_layout(arena, host),
				  .owners = owners,
				  .off = host_cpu_switched_off(host)};
	const struct picture *p = &picture;
	struct lines title = {.arena = arena}, remarks = {.arena = arena};
	struct grid grid = page_grid(p);
	int inside = MAX_OF(grid.whole.width, PAGE_LEAST - 2 * PAGE_MARGIN), width = inside + 2 * PAGE_MARGIN;
	const char *summary = host_summary(host, arena);

	add_lines(&title, summary, 16, inside);
	add_remarks(p, &remarks, inside);
	int top = PAGE_MARGIN + title.count * 23 + 8, below = top + grid.whole.height + 16;
	int key = below + off_height(p, inside);
	int notes = key + legend(p, PAGE_MARGIN, key, inside, false) + 8;
	int height = notes + remarks.count * LINE + PAGE_MARGIN - 8;

	svg_start(out, width, height, summary);
	for (int i = 0; i < title.count; i++)
		svg_text(out, "title", PAGE_MARGIN, PAGE_MARGIN + 14 + i * 23, title.line[i]);
	for (int i = 0; i < p->layout->package_count; i++)
		draw_package(p, &p->layout->packages[i], PAGE_MARGIN + grid_x(&grid, i), top + grid_y(&grid, i),
			     grid.cell);
	draw_off(p, PAGE_MARGIN, below, inside);
	(void)legend(p, PAGE_MARGIN, key, inside, true);
	for (int i = 0; i < remarks.count; i++)
		svg_text(out, "remark", PAGE_MARGIN, notes + 8 + i * LINE, remarks.line[i]);
	svg_end(out);
	return fflush(out) != 0 || ferror(out) ? -EIO : 0;
}
