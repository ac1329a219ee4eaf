#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-3.0-or-later
"""Owns the lab's ACPI tables: what firmware of an EPYC server adds to QEMU's own.

SSDT  for each CPU its performance states twice, as such firmware has them: _CPC
      for amd_pstate and _PSS, _PCT, _PPC, _PSD for acpi-cpufreq; _CST for the
      idle states; \\_SB._OSC, without which the kernel does not use CPPC; and a
      power meter (ACPI000D).
PCCT  the mailbox (one Platform Communications Channel, subspace type 0) through
      which the kernel reads and writes the registers that _CPC names.

Nobody sits at the other end of the mailbox.  The kernel writes a command, clears
the status word, rings the doorbell, and waits for bit 0 (command complete) of the
status word.  So the doorbell *is* the status word of the subspace: "keep all bits
but bit 0, then set bit 0" completes the command in the act of ringing it.  A read
finds in shared memory what was last written there, which is all that a test of
the kernel's interfaces needs.

The subspace lies in guest memory which nothing else may use: the option ROM (rom.S)
reports it as reserved, so that the kernel command line needs no memmap=.

Usage: tables.py --cpus N [--threads N] [--base ADDRESS] [--prefcore]
                 [--cstates 0|1|2] [--no-power-meter] [--pm-profile 0-8] [--rom-code FILE] DIRECTORY
writes DIRECTORY/ssdt.aml and DIRECTORY/pcct.aml, and with the machine code of rom.S
also DIRECTORY/rom.bin, the option ROM with its parameters filled in.
"""

import argparse
import pathlib
import struct

import aml

# Where things lie, from the base of the reserved region (1 MiB).
SUBSPACE_LENGTH = 0x8000
METER_OFFSET = 0x8000          # one 32-bit word, milliwatts
REGION_LENGTH = 0x100000
SUBSPACE_HEADER = 8            # signature, command, status; registers follow
STATUS_OFFSET = 6
REGISTERS_PER_CPU = 64         # bytes
MAX_CPUS = (SUBSPACE_LENGTH - SUBSPACE_HEADER) // REGISTERS_PER_CPU

NOMINAL_MHZ = 2450
LOWEST_MHZ = 400

# Abstract performance of a core.  Plain: an EPYC, all cores alike.  Preferred
# cores: the figures of a Ryzen, where 166 is what the kernel takes as the ceiling.
PLAIN = {"highest": 255, "nominal": 178, "nonlinear": 109, "lowest": 29}
PREFCORE = {"highest": 166, "nominal": 102, "nonlinear": 74, "lowest": 20}

# MHz, milliwatts: P0 to P2 as acpi-cpufreq shows them.
PSTATES = ((NOMINAL_MHZ, 3600), (2000, 2600), (1500, 1600))


def unused() -> bytes:
    """A register that does not exist."""
    return aml.register(aml.SYSTEM_MEMORY, 0, 0)


def cpc(cpu: int, prefcore: bool, threads: int) -> bytes:
    """_CPC revision 3 (ACPI 6.5, 8.4.6.1): 23 entries."""
    at = cpu * REGISTERS_PER_CPU

    def pcc(offset: int, bits: int) -> bytes:
        # Addresses of a PCC register count from the end of the subspace header;
        # the access size field carries the number of the subspace.
        return aml.register(aml.PCC, bits, at + offset, 0)

    perf = dict(PREFCORE if prefcore else PLAIN)
    if prefcore:
        perf["highest"] -= cpu // threads % 16
    return aml.package(
        23, 3,
        perf["highest"], perf["nominal"], perf["nonlinear"], perf["lowest"],
        unused(),                       # guaranteed performance
        pcc(0, 32), pcc(4, 32), pcc(8, 32),     # desired, minimum, maximum
        pcc(12, 32),                    # performance reduction tolerance
        unused(), unused(),             # time window, counter wraparound
        pcc(16, 64), pcc(24, 64),       # reference and delivered counters
        pcc(32, 32),                    # performance limited
        pcc(36, 32),                    # CPPC enable
        pcc(40, 32),                    # autonomous selection enable
        unused(),                       # autonomous activity window
        pcc(44, 32),                    # energy performance preference
        perf["nominal"],                # reference performance
        LOWEST_MHZ, NOMINAL_MHZ)


def pss() -> bytes:
    """_PSS: MHz, mW, latency, latency of bus masters, control, status."""
    return aml.package(*(aml.package(mhz, milliwatts, 10, 10, number, number)
                         for number, (mhz, milliwatts) in enumerate(PSTATES)))


def pct() -> bytes:
    """_PCT: control and status in I/O ports where QEMU has nothing."""
    return aml.package(aml.register(aml.SYSTEM_IO, 8, 0x610), aml.register(aml.SYSTEM_IO, 8, 0x611))


def cst(states: int) -> bytes:
    """_CST: C1 by HLT (the kernel falls back to it from MWAIT), C2 by an I/O port."""
    known = (aml.package(aml.register(aml.FIXED_HARDWARE, 0, 0), 1, 1, 0),
             aml.package(aml.register(aml.SYSTEM_IO, 8, 0x814, 1), 2, 400, 0))
    return aml.package(states, *known[:states])


def processor(cpu: int, prefcore: bool, cstates: int, threads: int) -> bytes:
    terms = [
        aml.name("_CPC", cpc(cpu, prefcore, threads)),
        aml.name("_PCT", pct()),
        aml.name("_PSS", pss()),
        aml.method("_PPC", 0, aml.returns(0)),
        # Domain of its own, coordinated by hardware (0xFE), as on EPYC.
        aml.name("_PSD", aml.package(aml.package(5, 0, cpu, 0xFE, 1))),
    ]
    if cstates:
        terms.append(aml.name("_CST", cst(cstates)))
    return aml.scope(f"\\_SB.CPUS.C{cpu:03X}", *terms)


def power_meter(base: int) -> bytes:
    """A power meter whose reading is the word at METER_OFFSET, in milliwatts."""
    # _PMC: can measure; unit mW; real power; accuracy 100 % (in 1/1000 %); sampling and
    # averaging times in ms; no hysteresis, no writable cap; model, serial, OEM data.
    capabilities = aml.package(1, 0, 0, 100000, 1000, 1000, 1000, 0, 0xFFFFFFFF, 0, 0,
                               "HVTUNE", "1", "PSU")
    return aml.scope(
        "\\_SB",
        aml.device(
            "PMTR",
            aml.name("_HID", "ACPI000D"),
            aml.name("_UID", 0),
            aml.memory_region("PMEM", base + METER_OFFSET, 16),
            aml.dword_field("PMEM", "MWAT"),
            aml.method("_PMC", 0, aml.returns(capabilities)),
            aml.method("_PMM", 0, aml.returns(aml.name_string("MWAT"))),
            aml.method("_GAI", 0, aml.returns(1000)),
            aml.method("_PAI", 1, aml.returns(0)),
            aml.method("_PMD", 0, aml.returns(aml.package(aml.name_string("\\_SB.CPUS.C000"))))))


def ssdt(cpus: int, base: int, prefcore: bool = False, cstates: int = 1, meter: bool = True,
         threads: int = 1) -> bytes:
    if not 1 <= cpus <= MAX_CPUS:
        raise ValueError(f"the subspace has room for 1 to {MAX_CPUS} CPUs")
    # Grants whatever the kernel asks for: the request is its own answer.
    terms = [aml.scope("\\_SB", aml.method("_OSC", 4, aml.returns(aml.argument(3))))]
    terms += [processor(cpu, prefcore, cstates, threads) for cpu in range(cpus)]
    if meter:
        terms.append(power_meter(base))
    return aml.table(b"SSDT", 2, b"CPPC", b"".join(terms))


def pcct(base: int) -> bytes:
    """PCCT revision 1: flags 0 (no interrupt: the kernel polls), one type-0 subspace."""
    doorbell = aml.gas(aml.SYSTEM_MEMORY, 16, base + STATUS_OFFSET, 2)
    subspace = struct.pack("<BB6xQQ", 0, 62, base, SUBSPACE_LENGTH) + doorbell
    # Preserve mask, write mask, nominal latency (us; the kernel gives up after 500 of
    # them), no limit on the rate of accesses, no turnaround time.
    subspace += struct.pack("<QQIIH", 0xFFFFFFFFFFFFFFFE, 1, 100, 0, 0)
    return aml.table(b"PCCT", 1, b"PCCT", struct.pack("<I8x", 0) + subspace)


def rom(code: bytes, base: int, profile: int) -> bytes:
    """The option ROM: parameters at the offsets that rom.S gives them, then the checksum."""
    if code[:2] != b"\x55\xaa" or len(code) > 511:
        raise ValueError("not the code of the option ROM, or it outgrew its 512 bytes")
    out = bytearray(code.ljust(512, b"\0"))
    out[8] = profile
    out[12:20] = struct.pack("<II", base, REGION_LENGTH)
    out[511] = -sum(out) & 0xFF
    return bytes(out)


def main() -> None:
    parser = argparse.ArgumentParser(description="write the lab's SSDT and PCCT")
    parser.add_argument("--cpus", type=int, required=True)
    parser.add_argument("--threads", type=int, default=1, help="CPUs of a core, numbered in a row")
    parser.add_argument("--base", type=lambda text: int(text, 0), default=0x3F000000)
    parser.add_argument("--prefcore", action="store_true")
    parser.add_argument("--cstates", type=int, choices=(0, 1, 2), default=1)
    parser.add_argument("--no-power-meter", dest="meter", action="store_false")
    parser.add_argument("--pm-profile", type=int, choices=range(9), default=4)
    parser.add_argument("--rom-code", type=pathlib.Path)
    parser.add_argument("directory", type=pathlib.Path)
    options = parser.parse_args()
    made = ssdt(options.cpus, options.base, options.prefcore, options.cstates, options.meter,
                options.threads)
    (options.directory / "ssdt.aml").write_bytes(made)
    (options.directory / "pcct.aml").write_bytes(pcct(options.base))
    if options.rom_code:
        made = rom(options.rom_code.read_bytes(), options.base, options.pm_profile)
        (options.directory / "rom.bin").write_bytes(made)


if __name__ == "__main__":
    main()
