"""What the binding of one statement shares: catalog, session values, parameter types, and what it finds on the way."""

from __future__ import annotations

from dataclasses import dataclass, field

from sql.bind.parameters import ParameterTypes
from sql.catalog import Catalog, SessionSettings
from sql.syntax import CommonTable

CommonTables = dict[str, tuple[CommonTable, "CommonTables"]]


@dataclass
class BindContext:
    """relations: names of all scanned relations so far. stable: now() or the like was used.

    wide_numbers: a numeric constant has more digits than a numeric can hold here, which is fine only where it becomes a float.
    common_tables: the WITH items in scope, each with those that it may itself use.
    """

    catalog: Catalog
    settings: SessionSettings
    parameters: ParameterTypes
    relations: set[str] = field(default_factory=set)
    stable: bool = False
    wide_numbers: bool = False
    common_tables: CommonTables = field(default_factory=dict)
