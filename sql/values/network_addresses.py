"""The types inet and cidr: addresses of IPv4 and IPv6 with the bits of their network, as PostgreSQL
reads and writes them.

The source is network.c. A value is its text as PostgreSQL prints it. Raises SqlError 22P02 for a
text that is no address. Must not know columns.
"""

from __future__ import annotations

import ipaddress
import operator
import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Self

from sql.errors import SqlError

BITS = {4: 32, 6: 128}
# The families, as PostgreSQL numbers them.
VERSIONS = {2: 4, 3: 6}
HEAD_BYTES = 4
OCTETS = re.compile(r"(?P<octets>[0-9]+(?:\.[0-9]+){0,3})(?:/(?P<bits>[0-9]{1,3}))?")
# The bits of a network that is written without bits, as 127.0.0.0: those of its class, by the first
# octet.
CLASSES = ((240, 32), (224, 8), (192, 24), (128, 16), (0, 8))


@dataclass(frozen=True, slots=True)
class Address:
    """An address with the bits of its network.

    Attributes:
        version: 4 or 6.
        number: the address.
        bits: of the network.
    """

    version: int
    number: int
    bits: int

    @classmethod
    def of(cls, text: str) -> Self:
        """Return the value of a text as PostgreSQL prints it."""
        address, _, bits = text.partition("/")
        version = 6 if ":" in address else 4
        return cls(version, int(ipaddress.ip_address(address)), int(bits) if bits else BITS[version])

    @property
    def width(self) -> int:
        """The number of bits of an address."""
        return BITS[self.version]

    @property
    def mask(self) -> int:
        """The mask: the bits of the network are set."""
        return ((1 << self.bits) - 1) << (self.width - self.bits)

    @property
    def host(self) -> str:
        """The text of the address alone."""
        if self.version == 4:
            return str(ipaddress.IPv4Address(self.number))
        # Six words of zeros, or five and one of ones, stand before an address of IPv4.
        head, tail = self.number >> 32, self.number & 0xFFFFFFFF
        if (head == 0 and tail >> 16) or head == 0xFFFF:
            return f"::{'ffff:' if head else ''}{ipaddress.IPv4Address(tail)}"
        return str(ipaddress.IPv6Address(self.number))

    def text(self, is_cidr: bool) -> str:
        """Return the text of the value; an inet whose network has all bits is printed without
        them.
        """
        return f"{self.host}/{self.bits}" if is_cidr or self.bits < self.width else self.host

    @property
    def network(self) -> Address:
        """The value without the bits after those of the network."""
        return Address(self.version, self.number & self.mask, self.bits)

    def holds(self, other: Address, or_equal: bool) -> bool:
        """Tell whether the network contains another one."""
        if self.version != other.version or self.bits > other.bits or (self.bits == other.bits and not or_equal):
            return False
        return (other.number & self.mask) == (self.number & self.mask)


def inet_value(text: str, position: int | None = None) -> str:
    """Return the text of an inet."""
    return _read(text, False, position).text(is_cidr=False)


def cidr_value(text: str, position: int | None = None) -> str:
    """Return the text of a cidr, which has no bits after those of its network."""
    found = _read(text, True, position)
    if found.network != found:
        detail = "Value has bits set to right of mask."
        raise SqlError("22P02", f'invalid cidr value: "{text}"', position, detail=detail)
    return found.text(is_cidr=True)


def cidr_of(text: str) -> str:
    """Return the network of an inet as a cidr."""
    return Address.of(text).network.text(is_cidr=True)


def inet_of(text: str) -> str:
    """Return a cidr as an inet."""
    return Address.of(text).text(is_cidr=False)


def _read(text: str, is_cidr: bool, position: int | None) -> Address:
    found = _read_6(text) if ":" in text else _read_4(text, is_cidr)
    if found is None:
        raise SqlError("22P02", f'invalid input syntax for type {"cidr" if is_cidr else "inet"}: "{text}"', position)
    return found


def _read_6(text: str) -> Address | None:
    address, slash, bits = text.partition("/")
    try:
        number = int(ipaddress.IPv6Address(address))
    except ValueError:
        return None
    if "%" in address or (slash and not (bits.isascii() and bits.isdigit() and len(bits) <= 3 and int(bits) <= 128)):
        return None
    return Address(6, number, int(bits) if slash else 128)


def _read_4(text: str, is_cidr: bool) -> Address | None:
    match = OCTETS.fullmatch(text)
    if match is None:
        return None
    octets = [int(octet) for octet in match["octets"].split(".")]
    if max(octets) > 255:
        return None
    number = int.from_bytes(bytes([*octets, 0, 0, 0])[:4], "big")
    if match["bits"] is not None:
        bits = int(match["bits"])
        return Address(4, number, bits) if bits <= 32 and (is_cidr or bits // 8 <= len(octets)) else None
    if len(octets) == 4:
        return Address(4, number, 32)
    if not is_cidr:
        return None
    bits = max(next(bits for first, bits in CLASSES if octets[0] >= first), 8 * len(octets))
    # A class D address is a network of four bits.
    return Address(4, number, 4 if octets == [224] else bits)


def address_key(text: str) -> bytes:
    """Return bytes that compare as PostgreSQL compares (network_cmp): family, common bits, bits,
    then the whole address.

    Each bit of the network is 1 or 2, and 0 is after the last.
    """
    value = Address.of(text)
    network = value.number >> (value.width - value.bits)
    digits = f"{network:0{value.bits}b}" if value.bits else ""
    marks = bytes(1 + (digit == "1") for digit in digits)
    return bytes([value.version]) + marks + b"\0" + value.number.to_bytes(value.width // 8, "big")


def received_address(data: bytes, is_cidr: bool) -> str:
    """Return the text of a binary form. Raises SqlError 22P03."""
    name = "cidr" if is_cidr else "inet"
    if len(data) < HEAD_BYTES:
        raise SqlError("08P01", "no data left in message" if not data else "insufficient data left in message")
    family, bits, _, size = data[:HEAD_BYTES]
    version = VERSIONS.get(family)
    if version is None:
        raise SqlError("22P03", f'invalid address family in external "{name}" value')
    if bits > BITS[version]:
        raise SqlError("22P03", f'invalid bits in external "{name}" value')
    if size != BITS[version] // 8:
        raise SqlError("22P03", f'invalid length in external "{name}" value')
    rest = data[HEAD_BYTES:]
    if len(rest) != size:
        if len(rest) < size:
            raise SqlError("08P01", "insufficient data left in message")
        raise SqlError("22P03", "incorrect binary data format")
    value = Address(version, int.from_bytes(rest, "big"), bits)
    if is_cidr and value.network != value:
        detail = "Value has bits set to right of mask."
        raise SqlError("22P03", 'invalid external "cidr" value', detail=detail)
    return value.text(is_cidr)


# Functions and operators. Texts of both types come in.


def broadcast(text: str) -> str:
    """Return the last address of the network."""
    value = Address.of(text)
    last = value.number | ((1 << (value.width - value.bits)) - 1)
    return Address(value.version, last, value.bits).text(is_cidr=False)


def netmask(text: str) -> str:
    """Return the mask of the network."""
    value = Address.of(text)
    return Address(value.version, value.mask, value.width).text(is_cidr=False)


def hostmask(text: str) -> str:
    """Return the mask of the bits after those of the network."""
    value = Address.of(text)
    return Address(value.version, (1 << (value.width - value.bits)) - 1, value.width).text(is_cidr=False)


def abbreviated(text: str) -> str:
    """Return abbrev(cidr): without the octets or words of zeros after the network."""
    value = Address.of(text)
    if value.version == 6:
        return f"{_abbreviated_words(value)}/{value.bits}"
    octets = value.number.to_bytes(4, "big")[: max((value.bits + 7) // 8, 1)]
    return f"{'.'.join(map(str, octets))}/{value.bits}"


def _abbreviated_words(value: Address) -> str:
    """Return the words of a network of IPv6, at least two of them.

    The longest run of zeros is two colons.
    """
    if value.bits == 0:
        return "::"
    data = value.number.to_bytes(16, "big")
    count = max((value.bits + 15) // 16, 2)
    words = [data[place] << 8 | data[place + 1] for place in range(0, 2 * count, 2)]
    start, length = _zeros(words)
    mapped = length == 6 or (length == 5 and data[10:12] == b"\xff\xff") or (length == 7 and data[14] and data[15] != 1)
    has_octets = length != count and start == 0 and mapped
    text = ""
    for place, word in enumerate(words):
        if start <= place < start + length:
            text += ":" * ((place == start) + (place == count - 1))
        elif has_octets and place > 5:
            # The last octet may lie after the network.
            octets = word.to_bytes(2, "big")[: 2 if place < 7 or value.bits > 120 else 1]
            text += (":" if place == 6 else ".") + ".".join(map(str, octets))
        else:
            text += f":{word:x}" if text else f"{word:x}"
    return text


def _zeros(words: Sequence[int]) -> tuple[int, int]:
    """Return start and length of the first of the longest runs of zeros."""
    best = start = length = 0
    for place, word in enumerate(words):
        length = 0 if word else length + 1
        if length > best:
            best, start = length, place + 1 - length
    return start, best


def shown(text: str) -> str:
    """Return the text of a cast, which has the bits of every network."""
    return Address.of(text).text(is_cidr=True)


def version(text: str) -> int:
    """Return family: 4 or 6."""
    return Address.of(text).version


def host(text: str) -> str:
    """Return the address alone."""
    return Address.of(text).host


def masklen(text: str) -> int:
    """Return the number of bits of the network."""
    return Address.of(text).bits


def with_inet_masklen(text: str, bits: int) -> str:
    """Return set_masklen(inet); -1 is all bits. Raises 22023."""
    return _with_masklen(text, bits).text(is_cidr=False)


def with_cidr_masklen(text: str, bits: int) -> str:
    """Return set_masklen(cidr); -1 is all bits. Raises 22023."""
    return _with_masklen(text, bits).network.text(is_cidr=True)


def _with_masklen(text: str, bits: int) -> Address:
    value = Address.of(text)
    wanted = value.width if bits == -1 else bits
    if not 0 <= wanted <= value.width:
        raise SqlError("22023", f"invalid mask length: {bits}")
    return Address(value.version, value.number, wanted)


def inverted(text: str) -> str:
    """Return ~ inet."""
    value = Address.of(text)
    return Address(value.version, value.number ^ (1 << value.width) - 1, value.bits).text(is_cidr=False)


def both(text: str, other: str) -> str:
    """Return inet & inet. Raises 22023."""
    return _combined(operator.and_, "AND", text, other)


def either(text: str, other: str) -> str:
    """Return inet | inet. Raises 22023."""
    return _combined(operator.or_, "OR", text, other)


def _combined(operate: Callable[[int, int], int], word: str, text: str, other: str) -> str:
    left, right = Address.of(text), Address.of(other)
    if left.version != right.version:
        raise SqlError("22023", f"cannot {word} inet values of different sizes")
    return Address(left.version, operate(left.number, right.number), max(left.bits, right.bits)).text(is_cidr=False)


def moved(text: str, amount: int) -> str:
    """Return inet + int8. Raises 22003."""
    value = Address.of(text)
    number = value.number + amount
    if not 0 <= number < 1 << value.width:
        raise SqlError("22003", "result is out of range")
    return Address(value.version, number, value.bits).text(is_cidr=False)


def moved_back(text: str, amount: int) -> str:
    """Return inet - int8. Raises 22003."""
    return moved(text, -amount)


def distance(text: str, other: str) -> int:
    """Return inet - inet. Raises 22023, 22003."""
    left, right = Address.of(text), Address.of(other)
    if left.version != right.version:
        raise SqlError("22023", "cannot subtract inet values of different sizes")
    found = left.number - right.number
    if not -(1 << 63) <= found < 1 << 63:
        raise SqlError("22003", "result is out of range")
    return found


def is_below(text: str, other: str) -> bool:
    """Return inet << inet."""
    return Address.of(other).holds(Address.of(text), or_equal=False)


def is_within(text: str, other: str) -> bool:
    """Return inet <<= inet."""
    return Address.of(other).holds(Address.of(text), or_equal=True)


def overlaps(text: str, other: str) -> bool:
    """Return inet && inet."""
    left, right = Address.of(text), Address.of(other)
    return left.holds(right, True) or right.holds(left, True)


def merged(text: str, other: str) -> str:
    """Return inet_merge: the smallest network that holds both. Raises 22023."""
    left, right = Address.of(text), Address.of(other)
    if left.version != right.version:
        raise SqlError("22023", "cannot merge addresses from different families")
    bits = min(left.bits, right.bits, left.width - (left.number ^ right.number).bit_length())
    return Address(left.version, left.number, bits).network.text(is_cidr=True)
