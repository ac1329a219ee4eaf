#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-3.0-or-later
"""Owns the checks of the lab's firmware that need no emulator: lengths, checksums, the
doorbell, the encoding of AML, and, where iasl is there, that it disassembles them."""

import pathlib
import shutil
import struct
import subprocess
import tempfile
import unittest

import aml
import tables

BASE = 0x3F000000
HERE = pathlib.Path(__file__).parent


class Encoding(unittest.TestCase):
    def test_package_lengths_at_their_limits(self):
        for size, width in ((0, 1), (62, 1), (63, 2), (4093, 2), (4094, 3), (1 << 20, 4)):
            made = aml.pkg_length(bytes(size))
            self.assertEqual(len(made), width, size)
            self.assertEqual(made[0] >> 6, width - 1)
            value = made[0] & 0x3F if width == 1 else made[0] & 0x0F
            for i, byte in enumerate(made[1:]):
                value |= byte << (4 + 8 * i)
            self.assertEqual(value, size + width)

    def test_integers_take_the_shortest_form(self):
        self.assertEqual(aml.integer(0), b"\x00")
        self.assertEqual(aml.integer(1), b"\x01")
        self.assertEqual(aml.integer(255), b"\x0a\xff")
        self.assertEqual(aml.integer(256), b"\x0b\x00\x01")
        self.assertEqual(aml.integer(0x3F008000), b"\x0c\x00\x80\x00\x3f")
        self.assertEqual(len(aml.integer(1 << 40)), 9)
        with self.assertRaises(ValueError):
            aml.integer(-1)

    def test_name_paths(self):
        self.assertEqual(aml.name_string("\\_SB"), b"\\_SB_")
        self.assertEqual(aml.name_string("\\_SB.CPUS"), b"\\\x2e_SB_CPUS")
        self.assertEqual(aml.name_string("\\_SB.CPUS.C00A"), b"\\\x2f\x03_SB_CPUSC00A")
        with self.assertRaises(ValueError):
            aml.name_string("LONGER")


class Tables(unittest.TestCase):
    def check_header(self, made, signature):
        self.assertEqual(made[:4], signature)
        self.assertEqual(struct.unpack_from("<I", made, 4)[0], len(made))
        self.assertEqual(sum(made) & 0xFF, 0, "checksum")

    def test_ssdt_of_every_size(self):
        for cpus in (1, 8, 16, 64, tables.MAX_CPUS):
            for prefcore in (False, True):
                made = tables.ssdt(cpus, BASE, prefcore, 2)
                self.check_header(made, b"SSDT")
                self.assertEqual(made.count(b"\x08_CPC"), cpus)
                self.assertEqual(made.count(b"\x08_PSS"), cpus)
        with self.assertRaises(ValueError):
            tables.ssdt(tables.MAX_CPUS + 1, BASE)

    def test_power_meter_can_be_left_out(self):
        self.assertIn(b"ACPI000D", tables.ssdt(1, BASE))
        self.assertNotIn(b"ACPI000D", tables.ssdt(1, BASE, meter=False))

    def test_registers_of_one_cpu_do_not_reach_the_next(self):
        self.assertLessEqual(44 + 4, tables.REGISTERS_PER_CPU)
        self.assertLessEqual(tables.SUBSPACE_LENGTH, tables.METER_OFFSET)
        self.assertLess(tables.METER_OFFSET, tables.REGION_LENGTH)

    def test_pcct_rings_its_own_status_word(self):
        made = tables.pcct(BASE)
        self.check_header(made, b"PCCT")
        kind, length, base, size = struct.unpack_from("<BB6xQQ", made, 48)
        self.assertEqual((kind, length, base, size), (0, 62, BASE, tables.SUBSPACE_LENGTH))
        self.assertEqual(len(made), 48 + length)
        space, bits, offset, access, doorbell = struct.unpack_from("<BBBBQ", made, 72)
        self.assertEqual((space, bits, offset, access), (aml.SYSTEM_MEMORY, 16, 0, 2))
        self.assertEqual(doorbell, BASE + 6)
        preserve, write = struct.unpack_from("<QQ", made, 84)
        # Whatever was in the status word: ringing sets "command complete" and nothing else.
        for before in (0, 1, 0xFFFE):
            self.assertEqual(((before & preserve) | write) & 0xFFFF, before | 1)

    def test_iasl_disassembles_them(self):
        if not shutil.which("iasl"):
            self.skipTest("no iasl here (Debian package acpica-tools)")
        with tempfile.TemporaryDirectory() as name:
            where = pathlib.Path(name)
            (where / "ssdt.aml").write_bytes(tables.ssdt(16, BASE, True, 2))
            (where / "pcct.aml").write_bytes(tables.pcct(BASE))
            for table in ("ssdt", "pcct"):
                done = subprocess.run(["iasl", "-d", where / (table + ".aml")], text=True,
                                      stdout=subprocess.PIPE, stderr=subprocess.STDOUT, check=False)
                self.assertEqual(done.returncode, 0, done.stdout)
                self.assertNotRegex(done.stdout, r"(?i)error|invalid|incorrect checksum")
            text = (where / "ssdt.dsl").read_text()
            self.assertEqual(text.count("Name (_CPC, Package (0x17)"), 16)
            self.assertIn("Return (Arg3)", text)
            self.assertIn("OperationRegion (PMEM, SystemMemory, 0x3F008000, 0x10)", text)


class Rom(unittest.TestCase):
    def code(self):
        with tempfile.TemporaryDirectory() as name:
            obj, out = pathlib.Path(name) / "rom.o", pathlib.Path(name) / "rom.code"
            subprocess.run(["as", "--32", "-o", obj, HERE / "rom.S"], check=True)
            subprocess.run(["ld", "-m", "elf_i386", "-Ttext", "0", "--oformat", "binary",
                            "-o", out, obj], check=True)
            return out.read_bytes()

    def test_parameters_and_checksum(self):
        if not (shutil.which("as") and shutil.which("ld")):
            self.skipTest("no assembler here")
        made = tables.rom(self.code(), BASE, 4)
        self.assertEqual(made[:3], b"\x55\xaa\x01")
        self.assertEqual(len(made), 512)
        self.assertEqual(sum(made) & 0xFF, 0)
        self.assertEqual(made[8], 4)
        self.assertEqual(struct.unpack_from("<II", made, 12), (BASE, tables.REGION_LENGTH))

    def test_refuses_what_is_no_rom(self):
        with self.assertRaises(ValueError):
            tables.rom(b"\0" * 64, BASE, 4)
        with self.assertRaises(ValueError):
            tables.rom(b"\x55\xaa" + b"\0" * 510, BASE, 4)


if __name__ == "__main__":
    unittest.main()
