"""DuckDB's C interface, as far as it registers scalar functions: the wheel exports all of it.

A static extension (`duckdb_static_extension.h`) is called for each database that this process opens
from then on, with a handle of that database: the way from a database that Python has opened to the
C interface. Enters: what `CFunctions.register` takes. Leaves: functions that DuckDB calls without
the interpreter.
"""

from __future__ import annotations

import ctypes
import threading
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from ctypes import CFUNCTYPE, POINTER, Structure, c_bool, c_char_p, c_int32, c_uint8, c_uint32, c_uint64, c_void_p
from functools import cache
from typing import Any

import _duckdb
import duckdb

# duckdb_type by the names of types.
TYPE_NUMBERS = {
    "BOOLEAN": 1,
    "SMALLINT": 3,
    "INTEGER": 4,
    "BIGINT": 5,
    "FLOAT": 10,
    "DOUBLE": 11,
    "TIMESTAMP": 12,
    "DATE": 13,
    "VARCHAR": 17,
    # Texts that name a zone or a field.
    "ZONE": 17,
    "FIELD": 17,
    "TEMPLATE": 17,
    "BLOB": 18,
    "TIMESTAMPTZ": 31,
}
# Functions of words, by our names: they are called from kernels.
KERNEL_SYMBOLS = {
    "antumbra_slot": "duckdb_scalar_function_get_extra_info",
    "antumbra_rows_count": "duckdb_data_chunk_get_size",
    "antumbra_argument": "duckdb_data_chunk_get_vector",
    "antumbra_data": "duckdb_vector_get_data",
    "antumbra_validity": "duckdb_vector_get_validity",
    "antumbra_make_validity": "duckdb_vector_ensure_validity_writable",
    "antumbra_part": "duckdb_struct_vector_get_child",
    "antumbra_keep_text": "duckdb_unsafe_vector_assign_string_element_len",
}


class Descriptor(Structure):
    """duckdb_extension_descriptor, layout 1."""

    _fields_ = (
        ("version", c_uint32),
        ("set_error", c_void_p),
        ("internal", c_void_p),
        ("name", c_char_p),
        ("extension_version", c_char_p),
        ("api_version", c_char_p),
        ("entry_cpp", c_void_p),
        ("entry_capi_v1", c_void_p),
        ("entry_capi_v2", c_void_p),
    )


class Access(Structure):
    """duckdb_extension_access."""

    _fields_ = (
        ("set_error", c_void_p),
        ("get_database", CFUNCTYPE(c_void_p, c_void_p)),
        ("get_api", c_void_p),
    )


ENTRY = CFUNCTYPE(c_bool, c_void_p, POINTER(Access))
DESCRIBE = CFUNCTYPE(c_int32, POINTER(Descriptor))
DESCRIPTOR_VERSION = 1

# The connection that a thread waits for.
OPENING = threading.local()


@cache
def library() -> ctypes.CDLL:
    """Return DuckDB as a C library."""
    found = ctypes.CDLL(_duckdb.__file__)
    for name in (
        "duckdb_create_scalar_function",
        "duckdb_create_logical_type",
        "duckdb_create_decimal_type",
        "duckdb_create_struct_type",
    ):
        getattr(found, name).restype = c_void_p
    found.duckdb_create_decimal_type.argtypes = [c_uint8, c_uint8]
    found.duckdb_create_struct_type.argtypes = [POINTER(c_void_p), POINTER(c_char_p), c_uint64]
    found.duckdb_scalar_function_set_extra_info.argtypes = [c_void_p, c_void_p, c_void_p]
    found.duckdb_scalar_function_set_error.argtypes = [c_void_p, c_char_p]
    found.duckdb_scalar_function_set_name.argtypes = [c_void_p, c_char_p]
    for name in ("add_parameter", "set_return_type", "set_function"):
        getattr(found, f"duckdb_scalar_function_{name}").argtypes = [c_void_p, c_void_p]
    for name in ("set_special_handling", "set_volatile"):
        getattr(found, f"duckdb_scalar_function_{name}").argtypes = [c_void_p]
    found.duckdb_register_scalar_function.argtypes = [c_void_p, c_void_p]
    found.duckdb_destroy_scalar_function.argtypes = [POINTER(c_void_p)]
    found.duckdb_connect.argtypes = [c_void_p, POINTER(c_void_p)]
    found.duckdb_disconnect.argtypes = [POINTER(c_void_p)]
    return found


def address_of(function: Any) -> int:
    """Return the address of a C function, or of a callback."""
    address = ctypes.cast(function, c_void_p).value
    assert address is not None
    return address


def kernel_symbols() -> dict[str, int]:
    """Return the addresses of DuckDB's functions that kernels call."""
    return {ours: address_of(getattr(library(), theirs)) for ours, theirs in KERNEL_SYMBOLS.items()}


def set_error(call: int, text: str) -> None:
    """Let the call of a function fail with a text."""
    library().duckdb_scalar_function_set_error(call, text.encode())


class CFunctions:
    """The functions of a database that was just opened."""

    def __init__(self, connection: c_void_p) -> None:
        self._connection = connection

    def register(
        self, name: str, arguments: Sequence[str], result: str, address: int, slot: int, is_volatile: bool
    ) -> None:
        """Make a C function known.

        arguments, result: names of types; slot: what the function finds under `antumbra_slot`.
        """
        c = library()
        function = c_void_p(c.duckdb_create_scalar_function())
        c.duckdb_scalar_function_set_name(function, name.encode())
        for argument in arguments:
            c.duckdb_scalar_function_add_parameter(function, type_of(argument))
        c.duckdb_scalar_function_set_return_type(function, type_of(result))
        c.duckdb_scalar_function_set_function(function, address)
        c.duckdb_scalar_function_set_extra_info(function, slot, None)
        # NULLs are ours: DuckDB would drop an argument that fails beside a constant NULL.
        c.duckdb_scalar_function_set_special_handling(function)
        if is_volatile:
            c.duckdb_scalar_function_set_volatile(function)
        assert c.duckdb_register_scalar_function(self._connection, function) == 0, name
        c.duckdb_destroy_scalar_function(ctypes.byref(function))


@cache
def type_of(name: str) -> c_void_p:
    """Return one of DuckDB's types; who asks keeps it."""
    c = library()
    if name in TYPE_NUMBERS:
        return c_void_p(c.duckdb_create_logical_type(TYPE_NUMBERS[name]))
    inner = name[name.index("(") + 1 : -1]
    if name.startswith("DECIMAL"):
        precision, scale = map(int, inner.split(","))
        return c_void_p(c.duckdb_create_decimal_type(precision, scale))
    assert name.startswith("STRUCT"), name
    fields = [field.split(" ") for field in inner.split(", ")]
    kinds = (c_void_p * len(fields))(*(type_of(kind).value for _, kind in fields))
    names = (c_char_p * len(fields))(*(field.encode() for field, _ in fields))
    return c_void_p(c.duckdb_create_struct_type(kinds, names, len(fields)))


@contextmanager
def opened_database(path: str, config: dict[str, Any]) -> Iterator[tuple[duckdb.DuckDBPyConnection, CFunctions]]:
    """Open a database; yield a connection to it, and what registers functions there."""
    _install()
    OPENING.connection = connection = c_void_p()
    try:
        database = duckdb.connect(path, config=config)
    finally:
        OPENING.connection = None
    assert connection.value, "DuckDB has opened a database without our extension"
    try:
        yield database, CFunctions(connection)
    finally:
        library().duckdb_disconnect(ctypes.byref(connection))


@cache
def _install() -> tuple[Any, Any]:
    """Let DuckDB call `_opened` for every database; return what must stay alive."""

    def describe(pointer: Any) -> int:
        descriptor = pointer.contents
        descriptor.version = DESCRIPTOR_VERSION
        descriptor.name, descriptor.extension_version, descriptor.api_version = b"antumbra", b"1", b"v1.2.0"
        descriptor.entry_capi_v1 = address_of(entry)
        return 0

    entry, described = ENTRY(_opened), DESCRIBE(describe)
    state = library().duckdb_register_static_extension(described)
    assert state == 0, "DuckDB takes no static extension"
    return entry, described


def _opened(information: int, access: Any) -> bool:
    """Connect to a database that is being opened, if this thread waits for it.

    Must not raise: C calls it.
    """
    connection = getattr(OPENING, "connection", None)
    if connection is not None:
        database = ctypes.cast(access.contents.get_database(information), POINTER(c_void_p))[0]
        library().duckdb_connect(database, ctypes.byref(connection))
    return True
