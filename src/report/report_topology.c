/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Owns the topology drawn in the terminal: a box for each package, in it one for each node where it has several, in it
 * one for each L3 group with its cores beside each other and the threads of a core below each other, by OS number.
 * Where all that would take more than a screen, one L3 group of each kind is drawn and the others are listed.
 */
#include "report.h"
#include "report_block.h"
#include "report_topology.h"
#include "text.h"

enum {
	SCREEN_LINES = 40, /* up to here every L3 group is drawn */
	GAP = 1,
	BOX_EDGES = 4, /* columns that a box takes on both sides */
};

struct drawing {
	struct arena *arena;
	const struct term *term;
	const struct host *host;
	const struct host_topology *topology;
	const struct layout *layout;
	const struct report_owners *owners; /* NULL: CPUs are drawn by number */
	int digits;			    /* of the largest CPU number */
	bool has_marks;			    /* a column for marks beside each number */
	bool ids_told;			    /* cache ids differ from the numbers of the groups */
	bool folded;
};

static const char *dot(const struct drawing *d)
{
	return d->term->utf8 ? " · " : ", ";
}

/* ---- one L3 group ---- */

static const char *group_title(const struct drawing *d, const struct layout_section *section,
			       const struct layout_group *group)
{
	const struct topology_l3 *l3 = group->l3 >= 0 ? &d->topology->l3s[group->l3] : NULL;
	const char *title = l3 ? arena_printf(d->arena, "%s %d", report_group_word(d->host), group->l3) : "no known L3";

	if (d->layout->node_is_group && section->node >= 0)
		title = arena_printf(d->arena, "node %d%s%s", d->topology->nodes[section->node].os_node, dot(d), title);
	if (!l3)
		return title;
	if (l3->ccd >= 0 && d->topology->ccd_count < d->topology->l3_count)
		title = arena_printf(d->arena, "CCD %d%s%s", l3->ccd, dot(d), title);
	if (d->ids_told && l3->id >= 0)
		title = arena_printf(d->arena, "%s (id %d)", title, (int)l3->id);
	if (l3->size_kib > 0)
		title = arena_printf(d->arena, "%s%s%s%s", title, dot(d), text_kib(d->arena, l3->size_kib),
				     l3->large ? " large L3" : "");
	if (d->layout->node_is_group && section->node >= 0) {
		const char *memory = report_node_memory(d->arena, &d->topology->nodes[section->node]);

		if (memory)
			title = arena_printf(d->arena, "%s%s%s", title, dot(d), memory);
	}
	return title;
}

static const char *owner_text(const struct drawing *d, int cpu)
{
	const char *mark = d->owners->marks[cpu] ? d->owners->marks[cpu] : d->term->utf8 ? "·" : ".";
	bool bold = d->owners->changed && cpuset_has(d->owners->changed, cpu);
	int blanks = d->digits - term_columns(mark);

	return arena_printf(d->arena, "%*s%s%s%s", MAX_OF(blanks, 0), "", bold ? term_on(d->term, TERM_BOLD) : "", mark,
			    bold ? term_on(d->term, TERM_PLAIN) : "");
}

static const char *cpu_text(const struct drawing *d, int cpu)
{
	if (d->owners)
		return owner_text(d, cpu);
	bool isolated = cpuset_has(&d->layout->isolated, cpu), preferred = cpuset_has(&d->layout->preferred, cpu);
	int l3 = topology_l3_of(d->topology, cpu);
	enum term_colour colour = isolated				  ? TERM_YELLOW
				  : preferred				  ? TERM_GREEN
				  : l3 >= 0 && d->topology->l3s[l3].large ? TERM_CYAN
									  : TERM_PLAIN;
	const char *on = colour == TERM_PLAIN ? "" : term_on(d->term, colour);
	const char *off = colour == TERM_PLAIN ? "" : term_on(d->term, TERM_PLAIN);
	const char *mark = !d->has_marks ? "" : isolated ? "*" : preferred ? "^" : " ";

	return arena_printf(d->arena, "%s%*d%s%s", on, d->digits, cpu, mark, off);
}

static int cell_width(const struct drawing *d)
{
	return d->digits + d->has_marks;
}

static int nth_cpu(const struct cpuset *cpus, int n)
{
	int cpu = cpuset_first(cpus);

	while (n-- > 0 && cpu >= 0)
		cpu = cpuset_next(cpus, cpu);
	return cpu;
}

/* The cores of a group in rows of `in_row`, threads of a core below each other. */
static struct block *group_cells(const struct drawing *d, const struct layout_group *group, int in_row)
{
	struct block *block = block_new(d->arena, d->term);

	for (int first = 0; first < group->column_count; first += in_row) {
		int last = MIN_OF(first + in_row, group->column_count);

		for (int thread = 0; thread < group->threads; thread++) {
			const char *line = "";

			for (int column = first; column < last; column++) {
				int cpu = nth_cpu(&group->columns[column], thread);
				const char *cell =
				    cpu < 0 ? arena_printf(d->arena, "%*s", cell_width(d), "") : cpu_text(d, cpu);

				line = arena_printf(d->arena, "%s%s%s", line, column > first ? " " : "", cell);
			}
			block_add(block, line);
		}
	}
	return block;
}

static struct block *group_box(const struct drawing *d, const struct layout_section *section,
			       const struct layout_group *group, int width)
{
	int in_row = MAX_OF(1, (width - BOX_EDGES + 1) / (cell_width(d) + 1));
	bool large = group->l3 >= 0 && d->topology->l3s[group->l3].large;

	return block_box(group_cells(d, group, MIN_OF(in_row, group->column_count)), group_title(d, section, group),
			 large ? TERM_CYAN : TERM_PLAIN, 0, width);
}

/* ---- folding ---- */

static bool same_owner(const struct drawing *d, int cpu, int twin)
{
	const char *a = d->owners ? d->owners->marks[cpu] : NULL, *b = d->owners ? d->owners->marks[twin] : NULL;

	return (!a && !b) || text_equal(a, b);
}

/* Is a VM here? A group that has one is what a picture of VMs is looked at for. */
static bool has_vm(const struct drawing *d, const struct layout_group *group)
{
	CPUSET_FOREACH (cpu, &group->cpus)
		if (d->owners && d->owners->marks[cpu] && !text_equal(d->owners->marks[cpu], "h"))
			return true;
	return false;
}

/* Do two groups look alike but for their numbers? Marks are looks. */
static bool look_alike(const struct drawing *d, const struct layout_group *one, const struct layout_group *other)
{
	if (has_vm(d, one) || has_vm(d, other))
		return false;
	const struct topology_l3 *a = one->l3 >= 0 ? &d->topology->l3s[one->l3] : NULL;
	const struct topology_l3 *b = other->l3 >= 0 ? &d->topology->l3s[other->l3] : NULL;

	if (!a != !b || (a && a->size_kib != b->size_kib) || one->column_count != other->column_count)
		return false;
	for (int i = 0; i < one->column_count; i++) {
		int cpu = cpuset_first(&one->columns[i]), twin = cpuset_first(&other->columns[i]);

		if (cpuset_count(&one->columns[i]) != cpuset_count(&other->columns[i]))
			return false;
		while (cpu >= 0 && twin >= 0) {
			if (cpuset_has(&d->layout->isolated, cpu) != cpuset_has(&d->layout->isolated, twin) ||
			    cpuset_has(&d->layout->preferred, cpu) != cpuset_has(&d->layout->preferred, twin) ||
			    !same_owner(d, cpu, twin))
				return false;
			cpu = cpuset_next(&one->columns[i], cpu);
			twin = cpuset_next(&other->columns[i], twin);
		}
	}
	return true;
}

static const struct layout_group *earlier_twin(const struct drawing *d, const struct layout_section *section, int at)
{
	for (int i = 0; i < at; i++)
		if (look_alike(d, &section->groups[i], &section->groups[at]))
			return &section->groups[i];
	return NULL;
}

static const char *short_title(const struct drawing *d, const struct layout_group *group)
{
	const struct topology_l3 *l3 = group->l3 >= 0 ? &d->topology->l3s[group->l3] : NULL;

	if (!l3)
		return "no known L3";
	const char *name = arena_printf(d->arena, "%s %d", report_group_word(d->host), group->l3);

	return d->ids_told && l3->id >= 0 ? arena_printf(d->arena, "%s (id %d)", name, (int)l3->id) : name;
}

static int64_t group_kib(const struct drawing *d, const struct layout_group *group)
{
	return group->l3 >= 0 ? d->topology->l3s[group->l3].size_kib : 0;
}

/*
 * Groups as "CCX 4  16-19,144-147", in columns, below a line that says what they are: "3 CCXs" or "3 more like it", and
 * the size of their L3. Where sizes differ each has its own. In a picture of VMs "CCX 4  like CCX 1", of `twins`.
 */
static struct block *group_list(const struct drawing *d, const char *what, const struct layout_group *const *groups,
				const struct layout_group *const *twins, int count, int width)
{
	struct block **entries = ARENA_ARRAY(d->arena, (size_t)count, struct block *);
	struct block *list = block_new(d->arena, d->term);
	const char **names = ARENA_ARRAY(d->arena, (size_t)count, const char *);
	int64_t kib = group_kib(d, groups[0]);
	bool same = true;
	int widest = 0;

	for (int i = 1; i < count; i++)
		same &= group_kib(d, groups[i]) == kib;
	for (int i = 0; i < count; i++) {
		names[i] = short_title(d, groups[i]);
		if (!same && group_kib(d, groups[i]) > 0)
			names[i] = arena_printf(d->arena, "%s%s%s", names[i], dot(d),
						text_kib(d->arena, group_kib(d, groups[i])));
		widest = MAX_OF(widest, term_columns(names[i]));
	}
	for (int i = 0; i < count; i++) {
		entries[i] = block_new(d->arena, d->term);
		block_add(entries[i], arena_printf(d->arena, "%s%*s  %s%s", names[i], widest - term_columns(names[i]),
						   "", d->owners ? "like " : "",
						   d->owners ? short_title(d, twins[i])
							     : cpuset_format(d->arena, &groups[i]->cpus)));
	}
	if (same && kib > 0)
		what =
		    arena_printf(d->arena, "%s%s%s%s", what, dot(d), text_kib(d->arena, kib), count > 1 ? " each" : "");
	if (!d->owners)
		block_add(list, arena_printf(d->arena, "%s:", what));
	block_append(list, block_grid(d->arena, d->term, entries, count, width, 3));
	return list;
}

/* One group of each kind drawn, the others as a list. */
static struct block *folded_section(const struct drawing *d, const struct layout_section *section, int width)
{
	struct block **boxes = ARENA_ARRAY(d->arena, (size_t)section->group_count, struct block *);
	const struct layout_group **others =
	    ARENA_ARRAY(d->arena, (size_t)section->group_count, const struct layout_group *);
	const struct layout_group **twins =
	    ARENA_ARRAY(d->arena, (size_t)section->group_count, const struct layout_group *);
	int box_count = 0, other_count = 0;

	for (int i = 0; i < section->group_count; i++) {
		twins[other_count] = earlier_twin(d, section, i);
		if (twins[other_count])
			others[other_count++] = &section->groups[i];
		else
			boxes[box_count++] = group_box(d, section, &section->groups[i], width);
	}
	struct block *block = block_grid(d->arena, d->term, boxes, box_count, width, GAP);

	if (other_count)
		block_append(block, group_list(d,
					       arena_printf(d->arena, "and %d more like %s", other_count,
							    box_count == 1 ? "it" : "these"),
					       others, twins, other_count, width));
	return block;
}

/* The earlier section of the package that one looks like, or NULL. A list of its groups is enough then. */
static const struct layout_section *earlier_section(const struct drawing *d, const struct layout_package *package,
						    int at)
{
	const struct layout_section *section = &package->sections[at];

	for (int i = 0; i < at; i++) {
		const struct layout_section *earlier = &package->sections[i];
		bool alike = earlier->group_count == section->group_count;

		for (int j = 0; alike && j < section->group_count; j++)
			alike = look_alike(d, &earlier->groups[j], &section->groups[j]);
		if (alike)
			return earlier;
	}
	return NULL;
}

static struct block *listed_section(const struct drawing *d, const struct layout_section *section,
				    const struct layout_section *earlier, int width)
{
	size_t count = (size_t)section->group_count;
	const struct layout_group **groups = ARENA_ARRAY(d->arena, count, const struct layout_group *);
	const struct layout_group **twins = ARENA_ARRAY(d->arena, count, const struct layout_group *);

	for (size_t i = 0; i < count; i++) {
		const struct layout_group *drawn = earlier_twin(d, earlier, (int)i);

		groups[i] = &section->groups[i];
		twins[i] = drawn ? drawn : &earlier->groups[i];
	}
	const char *what = arena_printf(d->arena, "%d %s%s", section->group_count, report_group_word(d->host),
					section->group_count == 1 ? "" : "s");

	return section->group_count ? group_list(d, what, groups, twins, section->group_count, width)
				    : block_new(d->arena, d->term);
}

static struct block *full_section(const struct drawing *d, const struct layout_section *section, int width)
{
	struct block **boxes = ARENA_ARRAY(d->arena, (size_t)section->group_count, struct block *);

	for (int i = 0; i < section->group_count; i++)
		boxes[i] = group_box(d, section, &section->groups[i], width);
	return block_grid(d->arena, d->term, boxes, section->group_count, width, GAP);
}

static struct block *section_block(const struct drawing *d, const struct layout_package *package, int at, int width)
{
	const struct layout_section *section = &package->sections[at];

	if (!d->folded)
		return full_section(d, section, width);
	const struct layout_section *earlier = earlier_section(d, package, at);

	return earlier ? listed_section(d, section, earlier, width) : folded_section(d, section, width);
}

/* ---- nodes and packages ---- */

static const char *node_title(const struct drawing *d, const struct topology_node *node)
{
	const char *memory = report_node_memory(d->arena, node);

	return arena_printf(d->arena, "node %d%s%s", node->os_node, memory ? dot(d) : "", memory ? memory : "");
}

static const char *package_title(const struct drawing *d, const struct layout_package *layout_package)
{
	if (layout_package->package < 0)
		return "package not known";
	const struct topology_package *package = &d->topology->packages[layout_package->package];
	const char *title = arena_printf(d->arena, "package %d", package->os_package);

	if (package->ccd_count && package->ccd_count != package->l3_count)
		title = arena_printf(d->arena, "%s%s%d CCDs", title, dot(d), package->ccd_count);
	if (layout_package->section_count == 1 && layout_package->sections[0].node >= 0)
		title = arena_printf(d->arena, "%s%s%s", title, dot(d),
				     node_title(d, &d->topology->nodes[layout_package->sections[0].node]));
	return title;
}

/* Nodes that are one L3 group each: their groups beside each other, as one section. */
static struct block *joined_sections(const struct drawing *d, const struct layout_package *package, int width)
{
	struct block **boxes = ARENA_ARRAY(d->arena, (size_t)package->section_count, struct block *);

	for (int i = 0; i < package->section_count; i++)
		boxes[i] = group_box(d, &package->sections[i], &package->sections[i].groups[0], width);
	return block_grid(d->arena, d->term, boxes, package->section_count, width, GAP);
}

static struct block *node_boxes(const struct drawing *d, const struct layout_package *package, int width)
{
	struct block **inner = ARENA_ARRAY(d->arena, (size_t)package->section_count, struct block *);
	struct block **boxes = ARENA_ARRAY(d->arena, (size_t)package->section_count, struct block *);
	int widest = 0;

	for (int i = 0; i < package->section_count; i++) {
		inner[i] = section_block(d, package, i, width - BOX_EDGES);
		widest = MAX_OF(widest, inner[i]->width + BOX_EDGES);
	}
	for (int i = 0; i < package->section_count; i++) {
		const struct topology_node *node = &d->topology->nodes[package->sections[i].node];

		boxes[i] =
		    block_box(inner[i], node_title(d, node), node->memoryless ? TERM_YELLOW : TERM_BLUE, widest, width);
	}
	return block_grid(d->arena, d->term, boxes, package->section_count, width, GAP);
}

static struct block *package_inside(const struct drawing *d, const struct layout_package *package, int width)
{
	if (package->section_count == 1)
		return section_block(d, package, 0, width);
	return d->layout->node_is_group ? joined_sections(d, package, width) : node_boxes(d, package, width);
}

static struct block *whole_picture(const struct drawing *d)
{
	const struct layout *layout = d->layout;
	struct block *picture = block_new(d->arena, d->term);
	struct block **inner = ARENA_ARRAY(d->arena, (size_t)layout->package_count, struct block *);
	int widest = 0;

	for (int i = 0; i < layout->package_count; i++) {
		inner[i] = package_inside(d, &layout->packages[i], d->term->width - BOX_EDGES);
		widest = MAX_OF(widest, inner[i]->width + BOX_EDGES);
	}
	for (int i = 0; i < layout->package_count; i++)
		block_append(picture, block_box(inner[i], package_title(d, &layout->packages[i]), TERM_BOLD, widest,
						d->term->width));
	return picture;
}

/* ---- what stands below ---- */

/* A list of CPUs that may be broken over lines where it is long: with a blank after each comma. */
static const char *breakable(const struct drawing *d, const struct cpuset *cpus)
{
	const char *list = cpuset_format(d->arena, cpus), *text = "";

	if ((int)strlen(list) < d->term->width - 30)
		return list;
	while (*list) {
		size_t length = strcspn(list, ",");

		text = arena_printf(d->arena, "%s%s%.*s", text, *text ? ", " : "", (int)length, list);
		list += length + (list[length] == ',');
	}
	return text;
}

static void print_list(const struct drawing *d, const char *label, const char *text)
{
	(void)fprintf(d->term->out, "  %-12s ", label);
	term_flow(d->term, 15, true, text);
}

static void print_nodes(const struct drawing *d)
{
	for (int i = 0; i < d->topology->node_count; i++) {
		const struct topology_node *node = &d->topology->nodes[i];
		const char *memory = report_node_memory(d->arena, node), *cpus = breakable(d, &node->cpus);

		/* Nodes that are boxes have said it already. */
		if (d->layout->nodes_nested && *cpus)
			continue;
		print_list(d, arena_printf(d->arena, "node %d", node->os_node),
			   arena_printf(d->arena, "%s%s%s%s", *cpus ? "CPUs " : "no CPUs", cpus, memory ? ", " : "",
					memory ? memory : ""));
	}
	const char *distances = report_distances(d->arena, d->host);

	if (distances)
		print_list(d, "distances", distances);
}

static void print_legend(const struct drawing *d)
{
	const struct host_cpu *cpu = &d->host->cpu;
	struct cpuset off = host_cpu_switched_off(d->host);
	const char *columns = !d->topology->core_known ? "each number is a CPU of the system"
			      : d->topology->threads_per_core > 1
				  ? "each column is a core, its threads below each other"
				  : "each number is a core with one thread";

	print_list(d, "CPUs", columns);
	if (!cpuset_empty(&d->layout->isolated))
		print_list(d, "* isolated", breakable(d, &d->layout->isolated));
	if (!cpuset_empty(&d->layout->preferred))
		print_list(d, "^ preferred",
			   arena_printf(d->arena, "%s (highest rank, %d)", breakable(d, &d->layout->preferred),
					(int)d->layout->top_rank));
	if (fact_known(&cpu->nohz_full) && !cpuset_empty(cpu->nohz_full.cpus))
		print_list(d, "nohz_full", breakable(d, cpu->nohz_full.cpus));
	if (!cpuset_empty(&off))
		print_list(d, "off line", breakable(d, &off));
}

static bool ids_differ(const struct host_topology *topology)
{
	for (int i = 0; i < topology->l3_count; i++)
		if (topology->l3s[i].id >= 0 && topology->l3s[i].id != i)
			return true;
	return false;
}

static int digits_of(int number)
{
	int digits = 1;

	while (number >= 10) {
		number /= 10;
		digits++;
	}
	return digits;
}

static void print_picture(struct drawing *d)
{
	struct block *picture = whole_picture(d);

	if (picture->count > SCREEN_LINES) {
		d->folded = true;
		picture = whole_picture(d);
	}
	block_print(picture);
}

void report_topology_owners(const struct term *term, const struct host *host, const struct report_owners *owners)
{
	CLEANUP(arena_free_pointer) struct arena *arena = arena_new();
	struct drawing d = {
	    .arena = arena,
	    .term = term,
	    .host = host,
	    .topology = &host->topology,
	    .layout = report_layout(arena, host),
	    .owners = owners,
	    .digits = owners->width,
	    .ids_told = ids_differ(&host->topology),
	};

	if (fact_known(&host->topology.state))
		print_picture(&d);
}

void report_topology(const struct term *term, const struct host *host)
{
	CLEANUP(arena_free_pointer) struct arena *arena = arena_new();
	const struct layout *layout = report_layout(arena, host);
	struct drawing d = {
	    .arena = arena,
	    .term = term,
	    .host = host,
	    .topology = &host->topology,
	    .layout = layout,
	    .digits = digits_of(host->topology.cpu_count - 1),
	    .has_marks = !cpuset_empty(&layout->isolated) || !cpuset_empty(&layout->preferred),
	    .ids_told = ids_differ(&host->topology),
	};

	term_flow(term, 0, true, host_summary(host, arena));
	if (!fact_known(&host->topology.state)) {
		term_flow(term, 0, true,
			  arena_printf(arena, "The topology is not known: %s.",
				       host->topology.state.note ? host->topology.state.note : "nothing tells it"));
		return;
	}
	(void)fputc('\n', term->out);
	print_picture(&d);
	(void)fputc('\n', term->out);
	print_legend(&d);
	print_nodes(&d);
	for (const char *const *remark = report_remarks(arena, host); *remark; remark++)
		term_flow(term, 2, false, *remark);
}
