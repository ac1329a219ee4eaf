/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Owns the exact best spot of one VM that may lie in several cells, nodes and sockets.
 *
 * All costs are sums of squares by level (place_price.c), so the best spot is found from the leaves up: the table of a
 * part of the host says what the best N cores in it cost, for every N, and the tables of its children are joined by
 * trying every way to divide N. Memory limits which N a node may have. Where the number of nodes is limited, tables
 * have a row for each number of nodes used.
 */
#include <string.h>

#include "place_internal.h"

enum level { LEVEL_HOST, LEVEL_SOCKET, LEVEL_NODE, LEVEL_QUADRANT, LEVEL_CELL };

enum { ROWS_MAX = 8 }; /* numbers of nodes that are told apart; a higher limit is checked at the end */

static const int64_t impossible = INT64_MAX / 4;

struct value {
	int64_t cost, moved, policy, sharing; /* cost scaled by cores x (cores - 1) */
};

struct choice {
	int16_t row, cores;
};

/* The table of one part of the host; rows x columns values. */
struct branch {
	int cell; /* LEVEL_CELL: its index */
	int rows, columns;
	struct value *values;
	struct branch *first_child, *last_child, *next;
	struct branch *before;	/* the sibling joined before it */
	struct choice *choices; /* what this child takes of each entry of its parent's table */
	int parent_rows, parent_columns;
};

/* Memory that is taken from the front and given back all at once. */
struct pool {
	char *memory;
	size_t size, used;
};

struct spans {
	struct place_state *state;
	const struct place_vm *vm;
	int index;
	const bool *blocked;
	int page_size;
	int rows;	 /* 1, or 1 + the most nodes */
	bool one_socket; /* sockets exclude each other */
	int64_t c, d;	 /* cores; max(cores - 1, 1) */
	struct pool *pool;
};

static void *take(struct spans *spans, size_t size)
{
	struct pool *pool = spans->pool;
	void *memory = pool->memory + pool->used;

	pool->used += (size + 15) & ~(size_t)15;
	if (pool->used > pool->size)
		err_no_memory(); /* make_pool() counts what is taken: not reached */
	return memory;
}

static size_t table_bytes(int rows, int columns)
{
	return (size_t)rows * (size_t)columns * (sizeof(struct value) * 2 + sizeof(struct choice)) + 64;
}

/* Enough for every table of a run: at most five levels of parts for each cell, each with a table it is joined into. */
static void make_pool(struct spans *spans)
{
	struct place_state *state = spans->state;
	struct pool *pool = state->spans;
	size_t branches = (size_t)state->cell_count * 4 + 1;
	size_t need = branches * (sizeof(struct branch) + table_bytes(spans->rows, (int)spans->c + 1) * 2);

	if (!pool)
		state->spans = pool = ARENA_NEW(state->arena, struct pool);
	if (pool->size < need) {
		pool->size = MAX_OF(need, pool->size * 2);
		pool->memory = arena_alloc(state->arena, pool->size);
	}
	pool->used = 0;
	spans->pool = pool;
}

static bool better(const struct value *a, const struct value *b)
{
	if (a->cost != b->cost)
		return a->cost < b->cost;
	if (a->moved != b->moved)
		return a->moved < b->moved;
	if (a->policy != b->policy)
		return a->policy < b->policy;
	return a->sharing < b->sharing;
}

static struct branch *new_branch(struct spans *spans, int rows, int columns)
{
	struct branch *branch = take(spans, sizeof(*branch));
	size_t count = (size_t)rows * (size_t)columns;

	memset(branch, 0, sizeof(*branch));
	branch->rows = rows;
	branch->columns = columns;
	branch->values = take(spans, count * sizeof(*branch->values));
	for (size_t i = 0; i < count; i++)
		branch->values[i] = (struct value){.cost = impossible};
	return branch;
}

static int key_of(const struct place_cell *cell, enum level level)
{
	const int keys[] = {0, cell->socket, cell->node, cell->quadrant, -1};

	return keys[level];
}

/* What `cores` in the cell add to the costs, with the best way to fill them. */
static struct branch *cell_branch(struct spans *spans, int index)
{
	struct place_state *state = spans->state;
	const struct place_cell *cell = &state->cells[index];
	const struct place_latency *is = state->latency;
	struct place_part *parts = state->scratch[0];
	int total = 0, columns = 0;
	struct branch *branch = NULL;
	int64_t per_core = 0;

	for (int i = 0; i < cell->count; i++) {
		int ccx = state->order[cell->first + i];

		total += spans->blocked && spans->blocked[ccx] ? 0 : state->free[ccx];
	}
	columns = MIN_OF(total, (int)spans->c) + 1;
	branch = new_branch(spans, 1, columns);
	branch->cell = index;
	if (spans->vm->device_node >= 0 && spans->vm->device_node != cell->node)
		per_core += 1000 * is->device * spans->c * spans->d;
	if (spans->vm->wish != PLACE_CLASS_NONE && (int)spans->vm->wish != cell->class)
		per_core += 1000 * is->class_mismatch * spans->c * spans->d;
	branch->values[0].cost = 0;
	for (int n = 1; n < columns; n++) {
		struct value *value = &branch->values[n];
		int count = 0;

		if (!place_fill(state, index, n, spans->blocked, parts, &count))
			continue;
		*value = (struct value){.cost = per_core * n};
		for (int i = 0; i < count; i++) {
			value->cost += 1000 * spans->c * (is->ccx - is->node) * parts[i].cores * parts[i].cores;
			value->policy += place_policy_delta(state, parts[i].ccx, parts[i].cores);
			value->sharing += place_sharing_delta(state, parts[i].ccx, parts[i].cores);
		}
	}
	return branch;
}

/* Join a child's table into the parent's: every way to divide cores and nodes between what is joined already and it. */
static void join(struct spans *spans, struct branch *parent, struct branch *child, bool exclusive)
{
	int most = MIN_OF((int)spans->c, parent->columns + child->columns - 2);
	int rows = MIN_OF(spans->rows, parent->rows + child->rows - 1), columns = most + 1;
	struct branch sum = {.rows = rows, .columns = columns};
	size_t count = (size_t)rows * (size_t)columns;

	sum.values = take(spans, count * sizeof(*sum.values));
	child->choices = take(spans, count * sizeof(*child->choices));
	child->parent_rows = rows;
	child->parent_columns = columns;
	for (size_t i = 0; i < count; i++)
		sum.values[i] = (struct value){.cost = impossible};
	for (int row = 0; row < parent->rows; row++) {
		for (int n = 0; n < parent->columns; n++) {
			const struct value *left = &parent->values[row * parent->columns + n];

			for (int more = 0; left->cost < impossible && more < child->rows && row + more < rows; more++) {
				for (int m = 0; m < child->columns && n + m <= most; m++) {
					const struct value *right = &child->values[more * child->columns + m];
					size_t at = (size_t)(row + more) * (size_t)columns + (size_t)(n + m);
					struct value both = {.cost = left->cost + right->cost,
							     .moved = left->moved + right->moved,
							     .policy = left->policy + right->policy,
							     .sharing = left->sharing + right->sharing};

					if (right->cost >= impossible || (exclusive && n > 0 && m > 0) ||
					    !better(&both, &sum.values[at]))
						continue;
					sum.values[at] = both;
					child->choices[at] = (struct choice){(int16_t)more, (int16_t)m};
				}
			}
		}
	}
	spans->state->steps += (int64_t)parent->columns * child->columns / 16;
	parent->rows = rows;
	parent->columns = columns;
	parent->values = sum.values;
	child->before = parent->last_child;
	if (!parent->first_child)
		parent->first_child = child;
	parent->last_child = child;
}

static bool node_may_hold(const struct spans *spans, int node, int cores)
{
	const struct place_vm *vm = spans->vm;
	int now = 0;

	if (vm->right == PLACE_REPIN) {
		for (int i = 0; i < spans->state->ccx_count; i++)
			now += spans->state->problem->ccxs[i].node == node ? vm->now[i] : 0;
		return cores == now;
	}
	if (place_device_binds(spans->state, spans->index) && node == vm->device_node && cores == 0)
		return false;
	return place_node_holds(spans->state, vm, node, cores, spans->page_size);
}

static int64_t moved_kib(const struct spans *spans, int node, int cores)
{
	const struct place_vm *vm = spans->vm;
	const struct place_problem *problem = spans->state->problem;
	int64_t pages = 0;

	if (vm->right != PLACE_MOVE || !vm->now_pages || spans->page_size < 0 || cores == 0)
		return 0;
	pages = place_pages_of(problem, vm, cores, spans->page_size);
	if (vm->now_page_size == spans->page_size)
		pages = MAX_OF(pages - vm->now_pages[node], 0);
	return pages * problem->page_kib[spans->page_size];
}

/* A node's memory decides how many cores it may have; with a limit on nodes it counts as one when it has any. */
static struct branch *finish_node(struct spans *spans, struct branch *branch, int node)
{
	const struct place_latency *is = spans->state->latency;
	bool limited = spans->rows > 1;
	struct branch *counted = new_branch(spans, limited ? 2 : 1, branch->columns);

	counted->first_child = branch->first_child;
	counted->last_child = branch->last_child;
	counted->cell = branch->cell;
	for (int n = 0; n < branch->columns; n++) {
		struct value value = branch->values[n];

		if (value.cost >= impossible || !node_may_hold(spans, node, n))
			continue;
		if (spans->vm->memory_kib > 0)
			value.cost -= 1000 * spans->d * is->memory_node * n * n;
		value.moved = moved_kib(spans, node, n);
		counted->values[(limited && n > 0 ? branch->columns : 0) + n] = value;
	}
	return counted;
}

static void add_squares(struct branch *branch, int64_t factor)
{
	for (int row = 0; row < branch->rows; row++) {
		for (int n = 0; n < branch->columns; n++) {
			struct value *value = &branch->values[row * branch->columns + n];

			if (value->cost < impossible)
				value->cost += factor * n * n;
		}
	}
}

static struct branch *make_branch(struct spans *spans, enum level level, int first, int last);

static struct branch *join_children(struct spans *spans, enum level level, int first, int last)
{
	const struct place_cell *cells = spans->state->cells;
	struct branch *branch = new_branch(spans, 1, 1);

	branch->cell = -1;
	branch->values[0].cost = 0;
	while (first < last) {
		enum level below = level + 1;
		int end = first + 1;

		while (below != LEVEL_CELL && end < last && key_of(&cells[end], below) == key_of(&cells[first], below))
			end++;
		join(spans, branch, make_branch(spans, below, first, end), spans->one_socket && level == LEVEL_HOST);
		first = end;
	}
	return branch;
}

static struct branch *make_branch(struct spans *spans, enum level level, int first, int last)
{
	const struct place_latency *is = spans->state->latency;
	bool memory = spans->vm->memory_kib > 0;
	struct branch *branch = NULL;

	if (level == LEVEL_CELL)
		return cell_branch(spans, first);
	branch = join_children(spans, level, first, last);
	if (level == LEVEL_QUADRANT)
		add_squares(branch, 1000 * spans->c * (is->node - is->socket));
	if (level == LEVEL_NODE)
		branch = finish_node(spans, branch, spans->state->cells[first].node);
	if (level == LEVEL_SOCKET)
		add_squares(branch, 1000 * (spans->c * (is->socket - is->other) +
					    (memory ? spans->d * (is->memory_node - is->memory_other) : 0)));
	return branch;
}

/* Follow the choices down and fill the cells. */
static void read_parts(struct spans *spans, const struct branch *branch, int row, int cores, struct place_spot *spot)
{
	if (cores == 0)
		return;
	if (!branch->first_child) {
		(void)place_fill(spans->state, branch->cell, cores, spans->blocked, spot->parts, &spot->part_count);
		return;
	}
	for (const struct branch *child = branch->last_child; child; child = child->before) {
		/* The row of a node's table is the node itself; those below it have one row. */
		int of = child->parent_rows == 1 ? 0 : row;
		struct choice choice = child->choices[of * child->parent_columns + cores];

		read_parts(spans, child, choice.row, choice.cores, spot);
		cores -= choice.cores;
		row = of - choice.row;
	}
}

static bool spans_with(struct spans *spans, struct place_spot *spot)
{
	int limit = place_node_limit(spans->state, spans->index), best_row = -1;
	struct branch *host = NULL;
	struct value best = {.cost = impossible};

	spans->rows = limit < spans->state->node_count && limit <= ROWS_MAX ? limit + 1 : 1;
	make_pool(spans);
	host = make_branch(spans, LEVEL_HOST, 0, spans->state->cell_count);
	if (host->columns <= spans->c)
		return false;
	for (int row = 0; row < host->rows; row++) {
		const struct value *value = &host->values[(int64_t)row * host->columns + spans->c];

		if (value->cost < impossible && better(value, &best)) {
			best = *value;
			best_row = row;
		}
	}
	if (best_row < 0)
		return false;
	spot->part_count = 0;
	spot->page_size = spans->page_size;
	read_parts(spans, host, best_row, (int)spans->c, spot);
	return place_nodes_of(spans->state, spot) <= limit;
}

bool place_spans(struct place_state *state, int index, const bool *blocked, struct place_spot *best, bool found)
{
	const struct place_vm *vm = &state->problem->vms[index];
	struct spans spans = {.state = state, .vm = vm, .index = index, .blocked = blocked, .c = vm->cores};
	struct place_spot spot = {.placed = true, .parts = state->scratch[0]};
	int sizes[PLACE_PAGE_SIZES];
	int count = place_page_sizes(state->problem, vm, sizes);

	spans.d = MAX_OF(vm->cores - 1, 1);
	spans.one_socket = place_one_socket(state, index);
	for (int i = 0; i < count; i++) {
		struct place_key key, best_key;

		spans.page_size = sizes[i];
		if (!spans_with(&spans, &spot))
			continue;
		place_spot_price(state, index, &spot);
		key = place_spot_key(state, &spot);
		best_key = place_spot_key(state, best);
		if (found && place_key_compare(&key, &best_key) >= 0)
			continue;
		place_spot_copy(best, &spot);
		found = true;
	}
	return found;
}
