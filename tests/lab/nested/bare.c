/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * Owns the nested guest that starts at once: no kernel, only what a virtual machine
 * needs to be placed, measured and restarted.  QEMU loads it like a kernel, by its
 * Multiboot header; the BIOS enters start in 32-bit protected mode without paging.
 *
 * It wakes the other CPUs, says on the console how many came, and then either halts
 * them for good or, with the word "busy" on its command line, keeps all of them in a
 * loop.  When the power button is pressed (virsh shutdown) it switches itself off.
 * A kernel instead takes half a minute to boot under two layers of emulation.
 */
typedef unsigned char u8;
typedef unsigned short u16;
typedef unsigned int u32;

enum {
	COM1 = 0x3f8,
	/* Local APIC (AMD64 APM volume 2, chapter 16): registers at their reset address. */
	APIC = 0xfee00000,
	APIC_SPURIOUS = 0xf0,
	APIC_COMMAND = 0x300,
	COMMAND_INIT = 0xc4500,	   /* all but self, assert */
	COMMAND_STARTUP = 0xc4600, /* all but self; the low byte is the page of the code */
	/* Where the woken CPUs start, in real mode: a page below 1 MiB that nobody uses. */
	TRAMPOLINE = 0x8000,
	/* ACPI of the PIIX4, function 3 of device 1: PMBASE is at 0x40 of its configuration (ACPI 6, chapter 4.8.3). */
	PCI_ADDRESS = 0xcf8,
	PCI_DATA = 0xcfc,
	PIIX4_PMBASE = 0x80000b40,
	PM1_ENABLE = 2,		  /* from PMBASE */
	PM1_CONTROL = 4,	  /* likewise */
	PM1_POWER_BUTTON = 0x100, /* of PM1_ENABLE */
	PM1_SLEEP = 0x2000,	  /* of PM1_CONTROL; sleep type 0 is S5 there */
	/* The two 8259: interrupts 0x20 to 0x2f; ACPI's is number 9. */
	PIC = 0x20,
	PIC_SLAVE = 0xa0,
	ACPI_VECTOR = 0x29,
	CODE_SEGMENT = 8,
	MULTIBOOT_MAGIC = 0x1badb002,
	STACK_WORDS = 1024,
};

/* Bit 16: the addresses below say where to load, so the file may be of any format. */
extern u8 image_start[], image_end[], bss_end[];
extern void start(void);
__attribute__((section(".multiboot"), used)) static const struct {
	u32 magic, flags, checksum;
	const void *header, *load, *load_end, *bss_end, *entry;
} multiboot = {MULTIBOOT_MAGIC,	   0x10000, -(MULTIBOOT_MAGIC + 0x10000u), &multiboot, image_start, image_end, bss_end,
	       (const void *)start};

static u32 stack[STACK_WORDS] __attribute__((used));

/* EBX holds the address of the Multiboot information. */
__asm__(".globl start\n"
	"start: movl $stack+4096, %esp\n"
	"       pushl %ebx\n"
	"       call run\n");

/* Counts itself at TRAMPOLINE+4, then spins if TRAMPOLINE+8 says so, else sleeps. */
__asm__(".globl wake, wake_end\n"
	"       .code16\n"
	"wake:  jmp 1f\n"
	"       .org wake+4\n"
	"       .long 0\n"
	"       .long 0\n"
	"1:     cli\n"
	"       xorw %ax, %ax\n"
	"       movw %ax, %ds\n"
	"       lock incl 0x8004\n"
	"       cmpl $0, 0x8008\n"
	"2:     jne 2b\n"
	"3:     hlt\n"
	"       jmp 3b\n"
	"wake_end:\n"
	"       .code32\n");
extern u8 wake[], wake_end[];

static void out8(u32 port, u8 value)
{
	__asm__ volatile("outb %0, %w1" : : "a"(value), "d"(port));
}

static void out16(u32 port, u16 value)
{
	__asm__ volatile("outw %0, %w1" : : "a"(value), "d"(port));
}

static void out32(u32 port, u32 value)
{
	__asm__ volatile("outl %0, %w1" : : "a"(value), "d"(port));
}

static u32 in32(u32 port)
{
	u32 value;

	__asm__ volatile("inl %w1, %0" : "=a"(value) : "d"(port));
	return value;
}

static unsigned long long tsc(void)
{
	return __builtin_ia32_rdtsc();
}

static void say(const char *text)
{
	while (*text)
		out8(COM1, (u8)*text++);
}

static void say_number(u32 value)
{
	if (value >= 10)
		say_number(value / 10);
	out8(COM1, (u8)('0' + value % 10));
}

static volatile u32 *at(u32 address)
{
	return (volatile u32 *)address;
}

/* Long enough for every CPU to have counted itself: the count stands still for a while. */
static u32 settled_count(void)
{
	u32 seen = 0;
	unsigned long long since = tsc();

	while (tsc() - since < 300000000)
		if (*at(TRAMPOLINE + 4) != seen) {
			seen = *at(TRAMPOLINE + 4);
			since = tsc();
		}
	return seen;
}

static int wants_busy(const u32 *info)
{
	const char *line;

	/* Flag bit 2: word 4 is the address of the command line. */
	if (!(info[0] & 4))
		return 0;
	for (line = (const char *)info[4]; *line; line++)
		if (line[0] == 'b' && line[1] == 'u' && line[2] == 's' && line[3] == 'y')
			return 1;
	return 0;
}

/* ---- the power button ---- */

static u32 power_base;
static unsigned long long segments[2] = {0, 0x00cf9a000000ffff}; /* none, and all of the memory as code */
static struct {
	u16 low, segment, type, high;
} gates[ACPI_VECTOR + 1];

__asm__(".globl pressed\n"
	"pressed: call switch_off\n");
extern void pressed(void);

__attribute__((used)) static void switch_off(void)
{
	out16(power_base + PM1_CONTROL, PM1_SLEEP);
}

/* The only interrupt that is let through is ACPI's, and the only event of ACPI is the button. */
static void mind_the_button(void)
{
	const struct {
		u16 limit;
		const void *base;
	} __attribute__((packed)) gdt = {sizeof(segments) - 1, segments}, idt = {sizeof(gates) - 1, gates};
	static const u8 words[2][4] = {{0x11, 0x20, 4, 1}, {0x11, 0x28, 2, 1}}; /* ICW1 to ICW4 */

	out32(PCI_ADDRESS, PIIX4_PMBASE);
	power_base = in32(PCI_DATA) & 0xffc0;
	if (power_base == 0 || power_base == 0xffc0)
		return;
	gates[ACPI_VECTOR].low = (u16)(u32)pressed;
	gates[ACPI_VECTOR].high = (u16)((u32)pressed >> 16);
	gates[ACPI_VECTOR].segment = CODE_SEGMENT;
	gates[ACPI_VECTOR].type = 0x8e00;
	__asm__ volatile("lgdt %0; lidt %1" : : "m"(gdt), "m"(idt));
	for (u32 i = 0; i < 4; i++) {
		out8(PIC + !!i, words[0][i]);
		out8(PIC_SLAVE + !!i, words[1][i]);
	}
	out8(PIC + 1, 0xfb);	   /* all but the slave */
	out8(PIC_SLAVE + 1, 0xfd); /* all but number 9 */
	out16(power_base + PM1_ENABLE, PM1_POWER_BUTTON);
	__asm__ volatile("sti");
}

__attribute__((noreturn, used)) static void run(const u32 *info)
{
	int busy = wants_busy(info);

	for (u32 i = 0; i < (u32)(wake_end - wake); i++)
		((volatile u8 *)TRAMPOLINE)[i] = wake[i];
	*at(TRAMPOLINE + 8) = busy;
	*at(APIC + APIC_SPURIOUS) = *at(APIC + APIC_SPURIOUS) | 0x100;
	*at(APIC + APIC_COMMAND) = COMMAND_INIT;
	for (unsigned long long since = tsc(); tsc() - since < 20000000;)
		;
	*at(APIC + APIC_COMMAND) = COMMAND_STARTUP | TRAMPOLINE >> 12;

	mind_the_button();
	say("lab-guest: up with ");
	say_number(1 + settled_count());
	say(busy ? " CPUs, busy\n" : " CPUs, idle\n");
	while (busy)
		;
	for (;;)
		__asm__ volatile("hlt");
}
