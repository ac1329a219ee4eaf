/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Owns asking and setting the queues of NICs. */
#include "sys_write_nic.h"

#include <errno.h>
#include <linux/ethtool.h>
#include <linux/sockios.h>
#include <net/if.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "sys.h"
#include "sys_write_internal.h"

static void close_fd(int *fd)
{
	if (*fd >= 0)
		(void)close(*fd);
}

static int call_ethtool(struct sys_writer *writer, const char *nic, struct ethtool_channels *channels, bool sets,
			struct err *err)
{
	CLEANUP(close_fd) int fd = -1;
	struct ifreq request = {.ifr_data = (char *)channels};
	int r;

	if (strlen(nic) >= sizeof(request.ifr_name))
		return err_set(err, ENOENT, nic, "is no name of a network device");
	memcpy(request.ifr_name, nic, strlen(nic));
	if (sys_writer_is_live(writer)) {
		fd = socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0);
		if (fd < 0)
			return err_set(err, errno, nic, "no socket to ask for its queues: %s", sys_reason(errno));
	}
	channels->cmd = sets ? ETHTOOL_SCHANNELS : ETHTOOL_GCHANNELS;
	r = sys_write_ioctl(writer, &(struct sys_ioctl){nic, fd, SIOCETHTOOL, &request, channels, sets});
	if (r == -ENODEV || r == -EXDEV || (r == -EOPNOTSUPP && !sets))
		return err_set(err, ENOENT, nic, "is no network device whose queues can be told");
	return r < 0 ? err_set(err, -r, nic, "its queues could not be %s: %s", sets ? "set" : "read", sys_reason(-r))
		     : 0;
}

int sys_writer_get_queues(struct sys_writer *writer, const char *nic, uint32_t *ret_count, uint32_t *ret_most,
			  struct err *err)
{
	struct ethtool_channels channels = {0};
	int r = call_ethtool(writer, nic, &channels, false, err);

	if (r < 0)
		return r;
	*ret_count = channels.combined_count;
	*ret_most = channels.max_combined;
	return 0;
}

int sys_writer_set_queues(struct sys_writer *writer, const char *nic, uint32_t count, struct err *err)
{
	struct ethtool_channels channels = {0};
	int r = call_ethtool(writer, nic, &channels, false, err);

	if (r < 0)
		return r;
	channels.combined_count = count;
	return call_ethtool(writer, nic, &channels, true, err);
}
