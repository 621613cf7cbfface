"""A column of any type in PostgreSQL's text or binary output: which encoder does it.

Enters: Arrow arrays in the forms of views, the family of their SQL type, the forms of text that the
reader asks for. Leaves: EncodedColumn.
"""

from __future__ import annotations

import pyarrow as pa
import pyarrow.compute as pc

from ringbuffer.encode import types as encode_types
from ringbuffer.encode.arrays import binary_lists, text_lists
from ringbuffer.encode.binary import binary_column as plain_binary
from ringbuffer.encode.encoded_column import EncodedColumn, one_array, string_column
from ringbuffer.encode.output_forms import Forms, other_text
from ringbuffer.encode.records import RecordFamily, binary_records, text_records
from ringbuffer.encode.text import text_column as plain_text
from ringbuffer.memory.labels import LabelFamily

STRINGS = frozenset({"bpchar", "uuid", "json", "jsonb", "inet", "cidr", "name", "pg_node_tree", "refcursor"})
# Arrays whose elements count from 0, and stand in no braces.
VECTORS = {"int2vector": "int2", "oidvector": "oid"}

# Types of oids that stand for names. Where they are to be shown by name, the caller gives structs
# of oid (int64) and name (string).
REGISTERED = frozenset(
    {
        "regproc", "regclass", "regtype", "regnamespace", "regrole", "regprocedure", "regoper", "regoperator",
        "regcollation",
    }
)  # fmt: skip

# The object identifier that an array in binary form gives for its elements.
ELEMENT_OIDS = {
    "bool": 16, "bytea": 17, "int8": 20, "int2": 21, "int4": 23, "text": 25, "json": 114, "float4": 700, "float8": 701, "bpchar": 1042,
    "varchar": 1043, "date": 1082, "time": 1083, "timestamp": 1114, "timestamptz": 1184, "interval": 1186, "numeric": 1700,
    "uuid": 2950, "jsonb": 3802, "inet": 869, "cidr": 650, "oid": 26, "name": 19, "char": 18,
    "timetz": 1266, "regproc": 24, "regclass": 2205, "regtype": 2206, "regnamespace": 4089, "regrole": 4096,
    "regprocedure": 2202, "regoper": 2203, "regoperator": 2204, "regcollation": 4191, "xid": 28, "cid": 29, "xid8": 5069,
    "refcursor": 1790,
}  # fmt: skip


def text_column(column: pa.Array | pa.ChunkedArray, family: str, forms: Forms) -> EncodedColumn:
    """Return the text of each value. family: a key of the type table, with '[]' for arrays, or with
    labels; forms: the session's.
    """
    array, zone = one_array(column), forms.zone
    if isinstance(family, LabelFamily):
        scalar = array.values if family.endswith("[]") else array
        labels = string_column(family.labels.texts_of(scalar))
        return text_lists(array, labels) if family.endswith("[]") else labels
    if isinstance(family, RecordFamily):
        rows = array.values if family.endswith("[]") else array
        parts = zip(rows.flatten(), family.fields, strict=False)
        records = text_records(rows, [text_column(part, kind, forms) for part, (kind, _) in parts])
        return text_lists(array, records) if family.endswith("[]") else records
    if family in REGISTERED:
        family = "oid"
        if pa.types.is_struct(array.type):
            family, array = "text", one_array(pc.struct_field(array, [1]))
    if family.endswith("[]"):
        return text_lists(array, text_column(array.values, family.removesuffix("[]"), forms))
    if family in VECTORS:
        return string_column(pc.binary_join(array.cast(pa.list_(pa.string())), " "))
    if (other := other_text(array, family, forms)) is not None:
        return other
    match family:
        case "time":
            return encode_types.time_text(array)
        case "timetz":
            return encode_types.zoned_time_text(array)
        case "interval":
            return encode_types.interval_text(array)
        case "bytea":
            return encode_types.bytea_text(array)
        case "char":
            return encode_types.char_text(array)
        case "oid" | "xid" | "cid" | "xid8":
            return plain_text(array, "int8", zone)
    return string_column(array) if family in STRINGS else plain_text(array, family, zone)


def binary_column(column: pa.Array | pa.ChunkedArray, family: str) -> EncodedColumn:
    """Return the binary form of each value. family: a key of the type table, with '[]' for
    arrays.
    """
    array = one_array(column)
    if isinstance(family, LabelFamily):
        scalar = array.values if family.endswith("[]") else array
        labels = string_column(family.labels.texts_of(scalar))
        return binary_lists(array, labels, family.labels.oid) if family.endswith("[]") else labels
    if isinstance(family, RecordFamily):
        rows = array.values if family.endswith("[]") else array
        parts = zip(rows.flatten(), family.fields, strict=False)
        encoded = [binary_column(part, kind) for part, (kind, _) in parts]
        records = binary_records(rows, encoded, [oid for _, oid in family.fields])
        return binary_lists(array, records, family.oid) if family.endswith("[]") else records
    if family in REGISTERED:
        family = "oid"
        if pa.types.is_struct(array.type):
            array = one_array(pc.struct_field(array, [0]))
    if family.endswith("[]"):
        element = family.removesuffix("[]")
        return binary_lists(array, binary_column(array.values, element), ELEMENT_OIDS[element])
    if family in VECTORS:
        element = VECTORS[family]
        return binary_lists(array, binary_column(array.values, element), ELEMENT_OIDS[element], lowest=0)
    match family:
        case "bpchar" | "json" | "name" | "pg_node_tree" | "refcursor":
            return string_column(array)
        case "oid" | "xid" | "cid":
            return encode_types.oid_binary(array)
        case "xid8":
            return plain_binary(array, "int8")
        case "char":
            return encode_types.char_binary(array)
        case "time":
            return encode_types.time_binary(array)
        case "timetz":
            return encode_types.zoned_time_binary(array)
        case "interval":
            return encode_types.interval_binary(array)
        case "bytea":
            return encode_types.bytes_column(array)
        case "uuid":
            return encode_types.uuid_binary(array)
        case "inet" | "cidr":
            return encode_types.address_binary(array, family == "cidr")
        case "jsonb":
            return encode_types.jsonb_binary(array)
    return plain_binary(array, family)
