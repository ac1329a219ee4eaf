/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * Owns the three things that a server's firmware does and QEMU's does not, as an
 * option ROM which the BIOS calls once, after it has laid out the ACPI tables:
 *
 *  - FADT.Preferred_PM_Profile.  QEMU says 0 (unspecified) and has no option for
 *    it, but amd_pstate decides by it whether it loads on its own.
 *  - first values in the mailbox: counters that are not zero (the kernel calls
 *    those a fault), the energy performance preference of such firmware, 80h, and
 *    a plausible reading of the power meter.
 *  - a reserved range in the memory map (INT 15h, AX=E820h) for the mailbox and the
 *    power meter, so that the kernel command line needs no memmap= for the lab.
 *
 * The BIOS enters with 4 GiB segment limits ("big real mode", SeaBIOS callrom), so
 * 32-bit addresses reach the tables below 4 GiB.  tables.py fills in the
 * parameters and the checksum, and pads to a multiple of 512 bytes.
 */
	.code16
	.text
	.globl _start
_start:
	.byte	0x55, 0xaa
	.byte	1			/* length in units of 512 bytes */
	jmp	init
	.org	8
profile:	.byte	0
	.org	12
base:		.long	0
length:		.long	0
old_int15:	.long	0

	.set	RAM, 1
	.set	RESERVED, 2
	.set	SMAP, 0x534d4150
	/* Upper halves of the continuation values given out here; the lower half is the
	   BIOS's own value for the piece of RAM that the range is cut out of. */
	.set	RANGE, 0x4c41
	.set	REST, 0x4c42

init:
	pushal
	push	%ds
	xorw	%ax, %ax
	movw	%ax, %ds

	/* The root pointer lies on a 16-byte boundary between E0000h and FFFFFh. */
	movl	$0xe0000, %esi
1:	cmpl	$0x20445352, (%esi)	/* "RSD " */
	jne	2f
	cmpl	$0x20525450, 4(%esi)	/* "PTR " */
	je	3f
2:	addl	$16, %esi
	cmpl	$0x100000, %esi
	jb	1b
	jmp	memory

3:	movl	16(%esi), %esi		/* RSDT: header of 36 bytes, then pointers */
	movl	4(%esi), %ecx
	addl	%esi, %ecx
	addl	$36, %esi
4:	cmpl	%ecx, %esi
	jae	memory
	movl	(%esi), %edi
	addl	$4, %esi
	cmpl	$0x50434146, (%edi)	/* "FACP" */
	jne	4b

	/* Byte 45 is the profile; byte 9, the checksum, makes up for the change. */
	movb	%cs:profile, %al
	subb	45(%edi), %al
	addb	%al, 45(%edi)
	subb	%al, 9(%edi)

memory:
	/* The registers of CPU n lie at 8 + 64 * n of the mailbox, as tables.py has it. */
	movl	%cs:base, %edi
	movl	$142000, 0x8000(%edi)	/* the power meter, in milliwatts */
	movl	$0x7fc0 / 64, %ecx
5:	movl	$0x10000, 8 + 16(%edi)
	movl	$0x10000, 8 + 24(%edi)
	movl	$0x80, 8 + 44(%edi)
	addl	$64, %edi
	loopl	5b

	/* Interrupt vector 15h at 54h; this ROM is still writable memory here. */
	movl	0x54, %eax
	movl	%eax, %cs:old_int15
	movw	$int15, 0x54
	movw	%cs, 0x56
	pop	%ds
	popal
	lretw

int15:
	cmpl	$0xe820, %eax
	je	e820
	ljmpw	*%cs:old_int15

	/* The piece of RAM with the range in it becomes three: what is below, the range, and
	   the rest.  Nothing may overlap: GRUB hands the kernel the map as it understood it. */
e820:
	pushl	%ebp
	movl	%ebx, %ebp
	shrl	$16, %ebx
	cmpw	$RANGE, %bx
	je	range
	cmpw	$REST, %bx
	je	rest
	movl	%ebp, %ebx
	pushfw
	lcallw	*%cs:old_int15
	jc	failed
	cmpl	$RAM, %es:16(%di)
	jne	done
	cmpl	$0, %es:4(%di)		/* above 4 GiB */
	jne	done
	cmpl	$0, %es:12(%di)
	jne	done
	pushl	%ebx
	movl	%cs:base, %ebx
	subl	%es:(%di), %ebx
	jb	6f
	cmpl	%es:8(%di), %ebx
	jae	6f
	movl	%ebx, %es:8(%di)
	popl	%ebx
	movzwl	%bp, %ebx
	orl	$RANGE << 16, %ebx
	jmp	done
6:	popl	%ebx
	jmp	done
range:
	movl	%cs:base, %eax
	movl	%eax, %es:(%di)
	movl	%cs:length, %eax
	movl	%eax, %es:8(%di)
	xorl	%eax, %eax
	movl	%eax, %es:4(%di)
	movl	%eax, %es:12(%di)
	movl	$RESERVED, %es:16(%di)
	movl	$20, %ecx
	movzwl	%bp, %ebx
	orl	$REST << 16, %ebx
	movl	$SMAP, %eax
	jmp	done
rest:
	movzwl	%bp, %ebx
	pushfw
	lcallw	*%cs:old_int15
	jc	failed
	pushl	%eax
	pushl	%ebx
	movl	%cs:base, %ebx
	addl	%cs:length, %ebx
	movl	%es:(%di), %eax
	addl	%es:8(%di), %eax
	subl	%ebx, %eax
	movl	%ebx, %es:(%di)
	movl	%eax, %es:8(%di)
	popl	%ebx
	popl	%eax
done:
	popl	%ebp
	pushw	%bp
	movw	%sp, %bp
	andw	$~1, 6(%bp)		/* carry in the caller's flags: clear is success */
	popw	%bp
	iretw
failed:
	popl	%ebp
	pushw	%bp
	movw	%sp, %bp
	orw	$1, 6(%bp)
	popw	%bp
	iretw
