"""VACUUM, ANALYZE and CLUSTER: DuckDB keeps its statistics with every write, and gives room free at
its checkpoints; tables are not kept in the order of an index, which is noted alone.
"""

from __future__ import annotations

from engine.catalog.image import TableEntry
from engine.catalog.kept_properties import with_property
from engine.ddl.table_work import TableWork
from engine.execution.defining import with_tables
from engine.execution.registry import handles
from engine.execution.resolving import Names
from engine.execution.work import Work
from engine.system_catalog.static_rows import relations
from sql.catalog.schemas import SYSTEM_SCHEMAS, system_relation
from sql.errors import SqlError
from sql.names.relation_keys import dotted, name_of, written_schema
from sql.parse.statements.maintenance import Cluster, ClusterAll, Maintenance
from sql.parse.statements.parts import TableChange


@handles(Maintenance)
def maintain(statement: Maintenance, work: Work) -> None:
    """Look up whether the tables and columns exist.

    Raises 42P01, 3F000, 42703, 42701, and 25001 for VACUUM in a transaction block.
    """
    if statement.verb == "VACUUM":
        work.require_alone(statement.tag)
    image, settings = work.image, work.settings.captured()
    names, verb = Names(image, settings), statement.verb.lower()
    role = work.identity.current(image.roles)
    for (written, position), columns in zip(statement.tables, statement.columns, strict=True):
        description = system_relation(written, image, settings)
        if description is None:
            if written_schema(written) in SYSTEM_SCHEMAS:
                raise SqlError("42P01", f'relation "{dotted(written)}" does not exist')
            entry = image.existing(names.known(written), position)
            description = entry.description
            is_table, owners = isinstance(entry, TableEntry), "table or database owner"
        else:
            is_table, owners = relations()[description.schema_name, name_of(description.name)].kind == "r", "superuser"
        if not is_table:
            why = f"cannot {verb} non-tables or special system tables"
        elif not image.roles.has_privileges_of(role, image.privileges.owner(description.oid)):
            why = f"only {owners} can {verb} it"
        else:
            check_columns(description.name, {column.name for column in description.columns}, columns)
            continue
        work.notice("01000", f'skipping "{name_of(written)}" --- {why}', "WARNING")


@handles(Cluster)
async def cluster(statement: Cluster, work: Work) -> None:
    """Note the index by which a table is clustered. Raises 42704, 42809 and 0A000."""
    await with_tables(work, note_cluster, statement)


@handles(ClusterAll)
def cluster_all(statement: ClusterAll, work: Work) -> None:
    """Do nothing: the tables that have such an index stay as they are. Raises 25001."""
    work.require_alone(statement.tag)


def note_cluster(statement: Cluster, work: TableWork) -> None:
    """Note the index of CLUSTER, or look up that there is one."""
    entry = work.image.existing(statement.table, statement.table_position)
    name = name_of(entry.description.name)
    if not isinstance(entry, TableEntry):
        raise SqlError("42809", f'"{name}" is not a table')
    if statement.index:
        work.put(with_property(entry, TableChange("keep", statement.index, kept="clustered")))
    elif not any("clustered" in one.marks for one in entry.description.constraints):
        raise SqlError("42704", f'there is no previously clustered index for table "{name}"')


def check_columns(table: str, known: set[str], columns: tuple[str, ...]) -> None:
    """Raise 42703 for columns that do not exist, and 42701 for those that are named twice."""
    relation = f'of relation "{name_of(table)}"'
    for number, name in enumerate(columns):
        if name not in known:
            raise SqlError("42703", f'column "{name}" {relation} does not exist')
        if name in columns[:number]:
            raise SqlError("42701", f'column "{name}" {relation} appears more than once')
