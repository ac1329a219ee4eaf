/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Owns the door on an archive: reading one into memory within limits, finding the machine in it, and answering for its
 * paths. Nothing is unpacked to disk, and no format is taken that names files outside the archive (mtree) or needs
 * another program.
 */
#include <archive.h>
#include <archive_entry.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "sys_internal.h"
#include "sys_tree.h"
#include "text.h"

enum { ARCHIVE_LIMIT = 512 * 1024 * 1024, BLOCK_SIZE = 64 * 1024 };

struct archive_door {
	struct sys_tree *tree;
	struct sys_node *root;
};

struct loader {
	struct archive *archive;
	struct sys_tree *tree;
	const char *path; /* of the archive, for messages */
	char *scratch;	  /* SYS_FILE_LIMIT + 1 bytes */
	int64_t total;	  /* bytes of contents, names and targets so far */
	size_t entries;
	struct err *err;
};

static void close_fd(int *fd)
{
	if (*fd >= 0)
		(void)close(*fd);
}

static void free_archive(struct archive **archive)
{
	if (*archive)
		(void)archive_read_free(*archive);
}

static void free_tree(struct sys_tree **tree)
{
	*tree = sys_tree_free(*tree);
}

static int refuse(struct loader *loader, int errnum, const char *entry, const char *what)
{
	(void)err_set(loader->err, errnum, loader->path, "refused: the entry \"%.160s\" %s", entry, what);
	(void)err_hint(loader->err, "unpack it where it can do no harm and give the directory");
	return -errnum;
}

static int damaged(struct loader *loader)
{
	const char *why = archive_error_string(loader->archive);

	(void)err_set(loader->err, EBADMSG, loader->path, "damaged archive after %zu entries: %s", loader->entries,
		      why ? why : "no reason given");
	(void)err_hint(loader->err, "fetch or make it again");
	return -EBADMSG;
}

static int too_large(struct loader *loader)
{
	(void)err_set(loader->err, EFBIG, loader->path,
		      "refused: more than 512 MiB unpacked; a capture or a tree of /sys and /proc is far smaller");
	(void)err_hint(loader->err, "unpack it and give the directory");
	return -EFBIG;
}

static int count(struct loader *loader, int64_t bytes)
{
	if (bytes < 0 || bytes > ARCHIVE_LIMIT - loader->total)
		return too_large(loader);
	loader->total += bytes;
	return 0;
}

/* Contents of the current entry. One larger than 8 MiB stays in the tree as unreadable. */
static int read_contents(struct loader *loader, struct archive_entry *entry, struct sys_node *node)
{
	size_t size = 0, room = SYS_FILE_LIMIT + 1;
	bool large = false;

	/* A size that is told and too large is refused before time is spent on unpacking it. */
	if (archive_entry_size_is_set(entry) && archive_entry_size(entry) > ARCHIVE_LIMIT - loader->total)
		return too_large(loader);
	for (;;) {
		la_ssize_t got = archive_read_data(loader->archive, loader->scratch + size, room - size);

		if (got == ARCHIVE_WARN || got == ARCHIVE_RETRY)
			continue;
		if (got < 0)
			return damaged(loader);
		if (got == 0)
			break;
		int r = count(loader, got);

		if (r < 0)
			return r;
		size += (size_t)got;
		if (size == room) {
			large = true;
			size = 0;
		}
	}
	node->errnum = large ? EFBIG : 0;
	node->size = large ? 0 : size;
	node->data = large ? "" : arena_strndup(sys_tree_arena(loader->tree), loader->scratch, size);
	return 0;
}

static int add_node(struct loader *loader, const char *name, enum sys_node_kind kind, struct sys_node **ret)
{
	switch (sys_tree_add(loader->tree, name, kind, ret)) {
	case 0:
		return 0;
	case -EXDEV:
		return refuse(loader, EXDEV, name, "leads out of the archive by \"..\"");
	case -ENOSPC:
		(void)err_set(loader->err, ENOSPC, loader->path,
			      "refused: more than 500,000 files and directories; a tree of /sys and /proc holds fewer");
		(void)err_hint(loader->err, "unpack it and give the directory");
		return -ENOSPC;
	default:
		return refuse(loader, ENOTDIR, name, "leads through a file or link, or is both file and directory");
	}
}

/* Another name of an entry that came before; the contents are shared. */
static int add_hard_link(struct loader *loader, const char *name, const char *target)
{
	struct sys_node *node, *other;

	if (text_has_word(target, "/", ".."))
		return refuse(loader, EXDEV, name, "is a hard link out of the archive");
	int r = sys_tree_find(loader->tree, sys_tree_top(loader->tree), target, false, &other);

	if (r < 0 || other->kind == NODE_DIR)
		return refuse(loader, EXDEV, name, "is a hard link to what is not in the archive");
	r = add_node(loader, name, other->kind, &node);
	if (r < 0)
		return r;
	node->data = other->data;
	node->size = other->size;
	node->errnum = other->errnum;
	return 0;
}

/*
 * Does the target of a link climb above the top of the archive? Links to what was not captured are usual and only
 * absent, and an absolute one is looked up below the machine's root; but none of a real tree climbs out.
 */
static bool climbs_out(const struct sys_node *link, const char *target)
{
	int depth = 0;

	if (target[0] == '/')
		return false;
	for (const struct sys_node *node = link->parent; node && node->parent; node = node->parent)
		depth++;
	while (*target) {
		target += strspn(target, "/");
		size_t length = strcspn(target, "/");

		if (length == 2 && target[0] == '.' && target[1] == '.')
			depth--;
		else if (length && !(length == 1 && target[0] == '.'))
			depth++;
		if (depth < 0)
			return true;
		target += length;
	}
	return false;
}

static int add_link(struct loader *loader, const char *name, const char *target)
{
	struct sys_node *node;
	int r = add_node(loader, name, NODE_LINK, &node);

	if (r < 0)
		return r;
	if (climbs_out(node, target))
		return refuse(loader, EXDEV, name, "is a link that leads out of the archive");
	node->data = arena_strdup(sys_tree_arena(loader->tree), target);
	node->size = strlen(target);
	node->errnum = 0;
	return 0;
}

static int add_entry(struct loader *loader, struct archive_entry *entry)
{
	const char *name = archive_entry_pathname(entry);
	struct sys_node *node;

	name = name ? name : archive_entry_pathname_utf8(entry);
	if (!name)
		return 0;
	if (strlen(name) >= PATH_MAX)
		return refuse(loader, ENAMETOOLONG, name, "has a name of more than 4095 bytes");
	const char *hard = archive_entry_hardlink(entry), *soft = archive_entry_symlink(entry);
	const char *target = hard ? hard : soft ? soft : "";
	int r = count(loader, (int64_t)(strlen(name) + strlen(target)));

	if (r < 0)
		return r;
	if (hard)
		return add_hard_link(loader, name, target);
	switch (archive_entry_filetype(entry)) {
	case AE_IFDIR:
		return add_node(loader, name, NODE_DIR, &node);
	case AE_IFLNK:
		return add_link(loader, name, target);
	case AE_IFREG:
		r = add_node(loader, name, NODE_FILE, &node);
		return r < 0 ? r : read_contents(loader, entry, node);
	default:
		/* A device node, FIFO or socket has nothing to read: absent. */
		return text_has_word(name, "/", "..") ? add_node(loader, name, NODE_FILE, &node) : 0;
	}
}

static int unknown_kind(struct archive *archive, const char *path, struct err *err)
{
	(void)err_set(err, EINVAL, path, "cannot tell what kind of host this is: %s", archive_error_string(archive));
	(void)err_hint(err, SYS_HOST_KINDS);
	return -EINVAL;
}

static int load(struct loader *loader)
{
	for (;;) {
		struct archive_entry *entry;
		int r = archive_read_next_header(loader->archive, &entry);

		if (r == ARCHIVE_EOF)
			return 0;
		if (r == ARCHIVE_RETRY)
			continue;
		if (r < ARCHIVE_WARN && loader->entries)
			return damaged(loader);
		if (r < ARCHIVE_WARN)
			return unknown_kind(loader->archive, loader->path, loader->err);
		r = add_entry(loader, entry);
		if (r < 0)
			return r;
		loader->entries++;
	}
}

static struct archive *new_reader(void)
{
	struct archive *archive = archive_read_new();

	if (!archive)
		err_no_memory();
	(void)archive_read_support_filter_bzip2(archive);
	(void)archive_read_support_filter_gzip(archive);
	(void)archive_read_support_filter_lz4(archive);
	(void)archive_read_support_filter_lzma(archive);
	(void)archive_read_support_filter_xz(archive);
	(void)archive_read_support_filter_zstd(archive);
	(void)archive_read_support_format_7zip(archive);
	(void)archive_read_support_format_cpio(archive);
	(void)archive_read_support_format_tar(archive);
	(void)archive_read_support_format_zip(archive);
	return archive;
}

/* Fill a tree from an open archive; for sys_open_archive() and sys_open_archive_memory(). */
static int load_tree(struct archive *archive, const char *path, struct sys_tree **ret, struct err *err)
{
	CLEANUP(free_tree) struct sys_tree *tree = sys_tree_new();
	struct loader loader = {.archive = archive, .tree = tree, .path = path, .err = err};

	/* Of so large a piece only the pages that are used cost memory. */
	loader.scratch = arena_alloc(sys_tree_arena(tree), SYS_FILE_LIMIT + 1);
	int r = load(&loader);

	if (r < 0)
		return r;
	*ret = tree;
	tree = NULL;
	return 0;
}

static bool is_machine(const struct sys_tree *tree, struct sys_node *root)
{
	struct sys_node *found;

	return sys_tree_find(tree, root, "proc/cpuinfo", true, &found) == 0 ||
	       (sys_tree_find(tree, root, "sys/devices/system/cpu", true, &found) == 0 && found->kind == NODE_DIR);
}

struct queue {
	struct sys_node **nodes;
	size_t count, room;
};

static void queue_free(struct queue *queue)
{
	free(queue->nodes);
}

static void queue_add(struct queue *queue, struct sys_node *node)
{
	if (queue->count == queue->room) {
		queue->room = queue->room ? queue->room * 2 : 64;
		struct sys_node **more = reallocarray(queue->nodes, queue->room, sizeof(struct sys_node *));

		if (!more)
			err_no_memory();
		queue->nodes = more;
	}
	queue->nodes[queue->count++] = node;
}

static int ambiguous(struct sys_tree *tree, const char *path, const struct sys_node *one, const struct sys_node *other,
		     struct err *err)
{
	(void)err_set(err, ENOTUNIQ, path, "holds more than one machine: \"%.120s\" and \"%.120s\"",
		      sys_tree_path(sys_tree_arena(tree), one), sys_tree_path(sys_tree_arena(tree), other));
	(void)err_hint(err, "unpack it and give the directory of one");
	return -ENOTUNIQ;
}

/* The machine is below the shortest path that leads to one; the top when there is none. Breadth first. */
static int find_root(struct sys_tree *tree, const char *path, struct sys_node **ret, struct err *err)
{
	CLEANUP(queue_free) struct queue queue = {0};
	struct sys_node *found = NULL;
	size_t level_end = 1;

	queue_add(&queue, sys_tree_top(tree));
	for (size_t i = 0; i < queue.count; i++) {
		if (i == level_end && found)
			break;
		if (i == level_end)
			level_end = queue.count;
		struct sys_node *node = queue.nodes[i];
		bool is_one = is_machine(tree, node);

		if (is_one && found)
			return ambiguous(tree, path, found, node, err);
		if (is_one)
			found = node;
		for (struct sys_node *child = node->first_child; child; child = child->next_sibling)
			if (child->kind == NODE_DIR)
				queue_add(&queue, child);
	}
	*ret = found ? found : sys_tree_top(tree);
	return 0;
}

static int archive_door_read(void *self, struct arena *arena, const char *path, const char **ret_data, size_t *ret_size)
{
	const struct archive_door *door = self;
	struct sys_node *node;
	int r = sys_tree_find(door->tree, door->root, path, true, &node);

	(void)arena; /* contents live as long as the door */
	if (r < 0)
		return r;
	if (node->kind == NODE_DIR)
		return -EISDIR;
	if (node->errnum)
		return -node->errnum;
	*ret_data = node->data;
	*ret_size = node->size;
	return 0;
}

static int archive_door_list(void *self, struct arena *arena, const char *path, const char *const **ret_names,
			     size_t *ret_count)
{
	const struct archive_door *door = self;
	struct sys_node *node;
	size_t found = 0;
	int r = sys_tree_find(door->tree, door->root, path, true, &node);

	if (r < 0)
		return r;
	if (node->kind != NODE_DIR)
		return -ENOTDIR;
	for (const struct sys_node *child = node->first_child; child; child = child->next_sibling)
		found++;
	const char **names = ARENA_ARRAY(arena, found + 1, const char *);

	found = 0;
	for (const struct sys_node *child = node->first_child; child; child = child->next_sibling)
		names[found++] = child->name;
	sys_sort_names(names, found);
	*ret_names = names;
	*ret_count = found;
	return 0;
}

static int archive_door_link(void *self, struct arena *arena, const char *path, const char **ret_target)
{
	const struct archive_door *door = self;
	struct sys_node *node;
	int r = sys_tree_find(door->tree, door->root, path, false, &node);

	(void)arena;
	if (r < 0)
		return r;
	if (node->kind != NODE_LINK)
		return -ENOENT;
	*ret_target = node->data;
	return 0;
}

static void archive_door_close(void *self)
{
	struct archive_door *door = self;

	(void)sys_tree_free(door->tree);
	free(door);
}

static const struct sys_backend archive_backend = {
    .read = archive_door_read, .list = archive_door_list, .link = archive_door_link, .close = archive_door_close};

/* Load what `archive` was opened on, and be the door on it. */
static int open_door(struct archive *archive, const char *path, struct sys **ret, struct err *err)
{
	CLEANUP(free_tree) struct sys_tree *tree = NULL;
	struct sys_node *root;
	int r = load_tree(archive, path, &tree, err);

	if (r < 0)
		return r;
	r = sys_replay_open(&tree, path, ret, err);
	if (r != -ENOENT)
		return r;
	r = find_root(tree, path, &root, err);
	if (r < 0)
		return r;
	struct archive_door *door = calloc(1, sizeof(*door));

	if (!door)
		err_no_memory();
	*door = (struct archive_door){.tree = tree, .root = root};
	tree = NULL;
	*ret = sys_new(&archive_backend, door, path, NULL);
	return 0;
}

int sys_open_archive(const char *path, struct sys **ret, struct err *err)
{
	struct stat info;

	if (stat(path, &info) < 0)
		return err_set(err, errno, path, "cannot open this host: %s", strerror(errno));
	/* Opening a device or FIFO could wait or do something. */
	if (!S_ISREG(info.st_mode)) {
		(void)err_set(err, EINVAL, path, "a host is a directory or a file, but this is neither");
		return err_hint(err, "give a directory or archive with sys/ and proc/");
	}
	CLEANUP(close_fd) int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);

	if (fd < 0)
		return err_set(err, errno, path, "cannot open this host: %s", strerror(errno));
	CLEANUP(free_archive) struct archive *archive = new_reader();

	if (archive_read_open_fd(archive, fd, BLOCK_SIZE) != ARCHIVE_OK)
		return unknown_kind(archive, path, err);
	return open_door(archive, path, ret, err);
}

int sys_open_archive_memory(const void *data, size_t size, const char *name, struct sys **ret, struct err *err)
{
	CLEANUP(free_archive) struct archive *archive = new_reader();

	if (archive_read_open_memory(archive, data, size) != ARCHIVE_OK)
		return unknown_kind(archive, name, err);
	return open_door(archive, name, ret, err);
}
