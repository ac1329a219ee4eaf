# SPDX-License-Identifier: GPL-3.0-or-later
"""Owns the AML byte code: just the terms that the lab's SSDT needs.

Each function returns the bytes of one term as chapter 20 of the ACPI
specification (6.5) encodes it, so a table is the sum of its terms.  Writing the
bytes here spares the lab the compiler (iasl) on the machine that runs it.
"""

import struct


def pkg_length(body: bytes) -> bytes:
    """PkgLength of a body: the count includes its own 1 to 4 bytes."""
    if len(body) + 1 < 0x40:
        return bytes([len(body) + 1])
    for extra in (1, 2, 3):
        total = len(body) + 1 + extra
        if total < 1 << (4 + 8 * extra):
            out = [(extra << 6) | (total & 0x0F)]
            out += [(total >> (4 + 8 * i)) & 0xFF for i in range(extra)]
            return bytes(out)
    raise ValueError("AML package too long")


def sized(opcode: bytes, body: bytes) -> bytes:
    """An opcode whose body is preceded by its PkgLength."""
    return opcode + pkg_length(body) + body


def name_string(path: str) -> bytes:
    """A name path: an optional root, then segments padded to four with '_'."""
    root = b"\\" if path.startswith("\\") else b""
    segments = [s.ljust(4, "_").encode() for s in path.lstrip("\\").split(".")]
    if any(len(s) != 4 for s in segments):
        raise ValueError(f"name segment longer than four in {path}")
    if len(segments) == 1:
        return root + segments[0]
    if len(segments) == 2:
        return root + b"\x2e" + b"".join(segments)
    return root + b"\x2f" + bytes([len(segments)]) + b"".join(segments)


def integer(value: int) -> bytes:
    """The shortest constant for an unsigned integer of up to 64 bits."""
    if value in (0, 1):
        return bytes([value])
    for prefix, code, bits in ((0x0A, "B", 8), (0x0B, "<H", 16), (0x0C, "<I", 32), (0x0E, "<Q", 64)):
        if 0 <= value < 1 << bits:
            return bytes([prefix]) + struct.pack(code, value)
    raise ValueError(f"integer out of range: {value}")


def term(value) -> bytes:
    """An int becomes a constant, a str a string; bytes are a term already."""
    if isinstance(value, int):
        return integer(value)
    if isinstance(value, str):
        return b"\x0d" + value.encode("ascii") + b"\0"
    return value


def package(*elements) -> bytes:
    return sized(b"\x12", bytes([len(elements)]) + b"".join(term(e) for e in elements))


def buffer(data: bytes) -> bytes:
    return sized(b"\x11", integer(len(data)) + data)


def name(path: str, value) -> bytes:
    return b"\x08" + name_string(path) + term(value)


def scope(path: str, *terms: bytes) -> bytes:
    return sized(b"\x10", name_string(path) + b"".join(terms))


def device(path: str, *terms: bytes) -> bytes:
    return sized(b"\x5b\x82", name_string(path) + b"".join(terms))


def method(path: str, arguments: int, *terms: bytes) -> bytes:
    """A serialized method, so that two CPUs never run it at once."""
    return sized(b"\x14", name_string(path) + bytes([arguments | 0x08]) + b"".join(terms))


def returns(value) -> bytes:
    return b"\xa4" + term(value)


def argument(number: int) -> bytes:
    return bytes([0x68 + number])


def memory_region(path: str, address: int, length: int) -> bytes:
    return b"\x5b\x80" + name_string(path) + b"\0" + integer(address) + integer(length)


def dword_field(region: str, *names: str) -> bytes:
    """32-bit units of a region, read and written whole (DWordAcc, NoLock, Preserve)."""
    units = b"".join(name_string(n) + b"\x20" for n in names)
    return sized(b"\x5b\x81", name_string(region) + b"\x03" + units)


# Address spaces of the Generic Address Structure (ACPI 6.5, table 5.1).
SYSTEM_MEMORY = 0x00
SYSTEM_IO = 0x01
PCC = 0x0A
FIXED_HARDWARE = 0x7F


def gas(space: int, bits: int, address: int, access: int = 0) -> bytes:
    """The 12 bytes of a Generic Address Structure."""
    return struct.pack("<BBBBQ", space, bits, 0, access, address)


def register(space: int, bits: int, address: int, access: int = 0) -> bytes:
    """A resource template of one Generic Register descriptor and the end tag.

    A checksum byte of zero in the end tag means "do not check".
    """
    return buffer(b"\x82" + struct.pack("<H", 12) + gas(space, bits, address, access) + b"\x79\0")


def table(signature: bytes, revision: int, table_id: bytes, body: bytes) -> bytes:
    """The common 36-byte header with its length and checksum, then the body."""
    header = struct.pack("<4sIBB6s8sI4sI", signature, 36 + len(body), revision, 0,
                         b"HVTUNE", table_id.ljust(8), 1, b"HVTN", 1)
    out = bytearray(header + body)
    out[9] = -sum(out) & 0xFF
    return bytes(out)
