/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Owns what is declared in sys_patterns.h. */
#include "sys_patterns.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>

#include "text.h"

/* Files in which four numbers with dots are a version. */
static const char *const version_files[] = {"version", "release", "/sys/class/dmi/", "/sys/devices/virtual/dmi/"};

static size_t count_of(const struct match *match, char wanted)
{
	size_t count = 0;

	for (size_t i = match->start; i < match->end; i++)
		count += match->line[i] == wanted;
	return count;
}

/* All zeros or all ones is no address of anything. */
static bool is_real_address(const struct match *match)
{
	bool zeros = true, ones = true;

	for (size_t i = match->start; i < match->end; i++) {
		char digit = match->line[i];

		if (!isxdigit((unsigned char)digit))
			continue;
		zeros &= digit == '0';
		ones &= digit == 'f' || digit == 'F';
	}
	return !zeros && !ones;
}

static bool is_version_file(const char *path)
{
	for (size_t i = 0; i < ARRAY_SIZE(version_files); i++)
		if (strstr(path, version_files[i]))
			return true;
	return false;
}

/* Not loopback, any or a mask, and not a version: those have a word and a dash or letters before them. */
static bool is_ipv4(const struct match *match)
{
	const char *at = match->line + match->start;
	unsigned first = 0;

	if (is_version_file(match->path))
		return false;
	if (match->start >= 1 && (at[-1] == '.' || at[-1] == '_'))
		return false;
	if (match->start >= 2 && at[-1] == '-' && isalpha((unsigned char)at[-2]))
		return false;
	if (match->line[match->end] == '.' && isdigit((unsigned char)match->line[match->end + 1]))
		return false;
	for (int i = 0; i < 4; i++) {
		char *end;
		unsigned long octet = strtoul(at, &end, 10);

		if (octet > 255 || (*at == '0' && end - at > 1))
			return false;
		if (i == 0)
			first = (unsigned)octet;
		at = end + 1;
	}
	return first != 0 && first != 127 && first != 255;
}

/* Eight groups, or fewer with one "::" in them; "::1" and "::" stay, and a mere "a::b" with letters only is a name. */
static bool is_ipv6(const struct match *match)
{
	const char *text = match->line + match->start;
	const char *gap = memmem(text, match->end - match->start, "::", 2);
	size_t colons = count_of(match, ':');

	if (!gap)
		return colons == 7;
	/* "ip=10.1.2.3::10.1.2.1": an empty field between two IPv4 addresses. */
	if (match->start && text[-1] == '.')
		return false;
	return colons <= 7 && match->end - match->start > 3 &&
	       !memmem(gap + 1, match->end - match->start - (size_t)(gap + 1 - text), "::", 2);
}

static bool is_no_unit(const struct match *match)
{
	static const char *const units[] = {".service", ".socket", ".timer", ".target", ".slice",
					    ".scope",	".mount",  ".path",  ".device", ".swap"};

	for (size_t i = 0; i < ARRAY_SIZE(units); i++)
		if (memmem(match->line + match->start, match->end - match->start, units[i], strlen(units[i])))
			return false;
	return true;
}

/* Names of devices that the kernel gives say nothing; those of volumes do. */
static bool is_volume(const struct match *match)
{
	static const char *const devices[] = {"dasd", "disk/", "dm-", "hd", "loop", "mapper/", "md",  "mmcblk", "nfs",
					      "nvme", "pmem",  "ram", "sd", "sr",   "vd",      "xvd", "zram"};

	for (size_t i = 0; i < ARRAY_SIZE(devices); i++)
		if (text_starts(match->line + match->start, devices[i]))
			return false;
	return true;
}

static bool is_in_libvirt(const struct match *match)
{
	return strstr(match->path, "libvirt") != NULL;
}

static bool is_in_proxmox(const struct match *match)
{
	return strstr(match->path, "/qemu-server/") || strstr(match->path, "/lxc/");
}

/* A section of a Proxmox file is a snapshot, which people name, or one of Proxmox's own. */
static bool is_snapshot(const struct match *match)
{
	return is_in_proxmox(match) && !text_starts(match->line + match->start, "PENDING]") &&
	       !text_starts(match->line + match->start, "special:");
}

static bool is_of_process(const struct match *match)
{
	return text_starts(match->path, "/proc/") && isdigit((unsigned char)match->path[strlen("/proc/")]);
}

static bool is_no_option(const struct match *match)
{
	return !text_starts(match->line + match->start, "guest=") && match->line[match->start] != '-';
}

/* "<qemu:arg" is libvirt's, "process=qemu:web" a name. */
static bool is_no_element(const struct match *match)
{
	size_t before = match->start - strlen("qemu:");

	return before == 0 || (match->line[before - 1] != '<' && match->line[before - 1] != '/');
}

static bool is_no_control(const struct match *match)
{
	return !text_starts(match->line + match->start, "control");
}

#define SECRET_WORDS "(passw(or)?d|passphrase|secret|token|psk|key)"
#define HEX "[0-9a-fA-F]"
#define DASH "(-|\\\\x2d)" /* as systemd writes a dash in the names of units */
#define REST "([^][:space:],:;\"'<>/]+)"

const struct pattern sys_patterns[] = {
    /* VMs: control groups, command lines of QEMU, definitions of libvirt and Proxmox */
    {"machine-", "machine-[a-z]+\\\\x2d([0-9]+\\\\x2d)?([^/[:space:]]+)\\.(scope|service)", 2, SECRET_VM, EDGE_NONE,
     NULL},
    {"guest=", "guest=([^,[:space:]]+)", 1, SECRET_VM, EDGE_NONE, NULL},
    {"-name", "-name[[:space:]]+([^,[:space:]]+)", 1, SECRET_VM, EDGE_NONE, is_no_option},
    {"qemu:", "qemu:([^,[:space:]]+)", 1, SECRET_VM, EDGE_NONE, is_no_element},
    {"/domain-", "/domain-[0-9]+-([^/,[:space:]]+)", 1, SECRET_VM, EDGE_NONE, NULL},
    {"/libvirt/", "/libvirt/(qemu|lxc|libxl)/(autostart/)?([^/[:space:]]+)\\.(xml|pid|log|status)", 3, SECRET_VM,
     EDGE_NONE, NULL},
    {"/libvirt/images/", "/libvirt/images/([^/,.[:space:]\"'<]+)", 1, SECRET_VM, EDGE_NONE, NULL},
    {"<name>", "<name>([^<]+)</name>", 1, SECRET_VM, EDGE_NONE, is_in_libvirt},
    {"<entry", "<entry[^>]*>([^<]+)<", 1, SECRET_SHAPE, EDGE_NONE, is_in_libvirt},
    {"serial", "<serial>([^<]+)</serial>", 1, SECRET_SHAPE, EDGE_NONE, NULL},
    {"name:", "^name:[[:space:]]*([^[:space:]]+)", 1, SECRET_VM, EDGE_NONE, is_in_proxmox},
    {"hostname:", "^hostname:[[:space:]]*([^[:space:]]+)", 1, SECRET_VM, EDGE_NONE, is_in_proxmox},
    {"cipassword:", "^cipassword:[[:space:]]*(.+)", 1, SECRET_SHAPE, EDGE_NONE, is_in_proxmox},
    {"ciuser:", "^ciuser:[[:space:]]*([^[:space:]]+)", 1, SECRET_USER, EDGE_NONE, is_in_proxmox},
    {"sshkeys:", "^sshkeys:[[:space:]]*(.+)", 1, SECRET_SHAPE, EDGE_NONE, is_in_proxmox},
    {"description:", "^description:[[:space:]]*(.+)", 1, SECRET_SHAPE, EDGE_NONE, is_in_proxmox},
    {"tags:", "^tags:[[:space:]]*(.+)", 1, SECRET_SHAPE, EDGE_NONE, is_in_proxmox},
    {"searchdomain:", "^searchdomain:[[:space:]]*(.+)", 1, SECRET_SHAPE, EDGE_NONE, is_in_proxmox},
    {"parent:", "^parent:[[:space:]]*(.+)", 1, SECRET_SHAPE, EDGE_NONE, is_in_proxmox}, /* names of snapshots */
    {"[", "^\\[(.+)\\]", 1, SECRET_SHAPE, EDGE_NONE, is_snapshot},
    /* what a guest is handed by firmware tables: keys, passwords, whole scripts; of a process to the end of its word */
    {"string=", "(^|,)string=(.+)", 2, SECRET_SHAPE, EDGE_NONE, is_of_process},
    {"string=", "(^|[,[:space:]'\"])string=([^[:space:]'\"<]+)", 2, SECRET_SHAPE, EDGE_NONE, NULL},
    {"type=11,", "type=11,(value=)?(.+)", 2, SECRET_SHAPE, EDGE_NONE, is_of_process},
    {"type=11,", "type=11,(value=)?([^[:space:]'\"<]+)", 2, SECRET_SHAPE, EDGE_NONE, NULL},

    /* hosts and users */
    {"/pve/nodes/", "/pve/nodes/([^/[:space:]]+)", 1, SECRET_HOST, EDGE_NONE, NULL},
    {"hostname=", "hostname=([^[:space:]]+)", 1, SECRET_HOST, EDGE_NONE, NULL},
    {"/home/", "/home/([^][:space:]/,:;\"'<>]+)", 1, SECRET_USER, EDGE_NONE, NULL},
    {"@", "\\(([^@()[:space:]]+)@[^@()[:space:]]+\\)", 1, SECRET_BUILDER, EDGE_NONE, NULL},
    {"@", "\\([^@()[:space:]]+@([^@()[:space:]]+)\\)", 1, SECRET_BUILDER, EDGE_NONE, NULL},
    {"@", "[A-Za-z0-9._+-]+@[A-Za-z0-9-]+(\\.[A-Za-z0-9-]+)*\\.[A-Za-z]{2,}", 0, SECRET_SHAPE, EDGE_WORD, is_no_unit},
    {"='", SECRET_WORDS "='([^']+)'", 3, SECRET_SHAPE, EDGE_NONE, NULL}, /* an attribute: only what is quoted */
    {"=\"", SECRET_WORDS "=\"([^\"]+)\"", 3, SECRET_SHAPE, EDGE_NONE, NULL},
    /* a quote at its end is that of the text around it */
    {"=", SECRET_WORDS "=([^,&'\"[:space:]]([^,&[:space:]]*[^,&'\"[:space:]])?)", 3, SECRET_SHAPE, EDGE_NONE, NULL},

    {"data=", "secret,([^[:space:]]*,)?data=([^,[:space:]]+)", 2, SECRET_SHAPE, EDGE_NONE, NULL},
    {"\"data\"", "\"data\":[[:space:]]*\"([^\"]+)\"", 1, SECRET_SHAPE, EDGE_NONE, NULL},

    /* file systems and volumes */
    {"UUID=", "UUID=\"?(" HEX "{4}-" HEX "{4})", 1, SECRET_SHAPE, EDGE_WORD, NULL},
    {"UUID=", "PARTUUID=\"?(" HEX "{8})-" HEX "{2}", 1, SECRET_SHAPE, EDGE_NONE, NULL},
    {"uuid/", "by-(part)?uuid/([^/,[:space:]]+)", 2, SECRET_SHAPE, EDGE_NONE, NULL},
    {"label/", "by-(part)?label/([^/,[:space:]]+)", 2, SECRET_LABEL, EDGE_NONE, NULL},
    {"LABEL=", "LABEL=\"?" REST, 1, SECRET_LABEL, EDGE_NONE, NULL},
    {"by-id/", "by-id/[a-z]+-([^/,[:space:]]+)", 1, SECRET_SHAPE, EDGE_NONE, NULL},
    {"/dev/mapper/", "/dev/mapper/" REST, 1, SECRET_SHAPE, EDGE_NONE, is_no_control},
    {"rd.lvm.", "rd\\.lvm\\.[lv][gv]=([^[:space:]]+)", 1, SECRET_SHAPE, EDGE_NONE, NULL},
    {"luks.name=", "luks\\.name=[^=[:space:]]+=([^[:space:]]+)", 1, SECRET_SHAPE, EDGE_NONE, NULL},
    {"cryptdevice=", "cryptdevice=[^:[:space:]]+:([^:[:space:]]+)", 1, SECRET_SHAPE, EDGE_NONE, NULL},
    {"=/dev/", "(root|resume|swap|usr)=/dev/([^,[:space:]]+)", 2, SECRET_SHAPE, EDGE_NONE, is_volume},

    /* numbers that name one thing in the world */
    {NULL, HEX "{8}" DASH HEX "{4}" DASH HEX "{4}" DASH HEX "{4}" DASH HEX "{12}", 0, SECRET_SHAPE, EDGE_WORD,
     is_real_address},
    {NULL, HEX "{64}", 0, SECRET_SHAPE, EDGE_WORD, is_real_address},
    {NULL, HEX "{32}", 0, SECRET_SHAPE, EDGE_WORD, is_real_address},
    {"qn.", "[in]qn\\.[0-9]{4}-[0-9]{2}\\.([^[:space:],]+)", 1, SECRET_SHAPE, EDGE_NONE, NULL},
    {".", "(naa|eui|t10|nvme)\\.([0-9A-Za-z._-]{8,})", 2, SECRET_SHAPE, EDGE_NONE, NULL},
    {"wwn-", "wwn-0x(" HEX "+)", 1, SECRET_SHAPE, EDGE_NONE, NULL},
    {"0x5", "0x(5" HEX "{15})", 1, SECRET_SHAPE, EDGE_NONE, NULL},
    {"erial", "[Ss]erial ?([Nn]umber)?[[:space:]]*[:=][[:space:]]*([^,[:space:]]+)", 2, SECRET_SHAPE, EDGE_NONE, NULL},
    /* behind a colon too: "ifname=eth0:52:54:00:..." */
    {":", HEX "{2}(:" HEX "{2}){5,19}", 0, SECRET_MAC, EDGE_WORD, is_real_address},
    {"-", "(01-|20-)?(" HEX "{2}(-" HEX "{2}){5})", 2, SECRET_MAC, EDGE_WORD, is_real_address}, /* BOOTIF= of PXE */
    {"x", "(en|wl|ww)x(" HEX "{12})", 2, SECRET_MAC, EDGE_NONE, NULL},
    {":", HEX "{4}(:" HEX "{4}){3}", 0, SECRET_SHAPE, EDGE_COLON, is_real_address},
    {".", "[0-9]{1,3}(\\.[0-9]{1,3}){3}", 0, SECRET_IPV4, EDGE_WORD, is_ipv4},
    {":", "(" HEX "{1,4}:){7}" HEX "{1,4}", 0, SECRET_IPV6, EDGE_COLON, is_ipv6},
    {"::", HEX "{1,4}(:" HEX "{1,4})*::(" HEX "{1,4}(:" HEX "{1,4})*)?", 0, SECRET_IPV6, EDGE_COLON, is_ipv6},
};

const size_t sys_pattern_count = ARRAY_SIZE(sys_patterns);
