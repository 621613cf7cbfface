"""pg_database, pg_authid, and the foreign server of streams: what is there once for the whole server."""

from __future__ import annotations

from collections.abc import Callable

from engine.catalog import CatalogImage
from engine.system_catalog.object_oids import DATABASE, DEFAULT_TABLESPACE, OWNER, SERVER, WRAPPER
from engine.system_catalog.static_rows import Row

ENCODING_UTF8 = 6
# The role that owns schema public; every database's owner is a member.
DATABASE_OWNER = 6171
# Both names are one database.
DATABASES = (("antumbra", DATABASE), ("postgres", DATABASE + 1))


def database_rows(_: CatalogImage) -> list[Row]:
    """Return the rows of pg_database."""
    return [
        {
            "oid": oid, "datname": name, "datdba": OWNER, "encoding": ENCODING_UTF8, "datlocprovider": "c", "datistemplate": False,
            "datallowconn": True, "datconnlimit": -1, "datfrozenxid": 1, "datminmxid": 1, "dattablespace": DEFAULT_TABLESPACE,
            "datcollate": "C", "datctype": "C", "daticulocale": None, "datcollversion": None, "datacl": None,
        }
        for name, oid in DATABASES
    ]  # fmt: skip


def role_rows(_: CatalogImage) -> list[Row]:
    """Return the rows of pg_authid."""
    return [
        _role(DATABASE_OWNER, "pg_database_owner"),
        _role(OWNER, "antumbra") | {
            "rolsuper": True, "rolinherit": True, "rolcreaterole": True, "rolcreatedb": True,
            "rolcanlogin": True, "rolreplication": True, "rolbypassrls": True,
        },
    ]  # fmt: skip


def _role(oid: int, name: str) -> Row:
    return {
        "oid": oid, "rolname": name, "rolsuper": False, "rolinherit": True, "rolcreaterole": False, "rolcreatedb": False,
        "rolcanlogin": False, "rolreplication": False, "rolbypassrls": False, "rolconnlimit": -1, "rolpassword": None,
        "rolvaliduntil": None,
    }  # fmt: skip


def wrapper_rows(_: CatalogImage) -> list[Row]:
    """Return the row of pg_foreign_data_wrapper."""
    return [
        {
            "oid": WRAPPER, "fdwname": "antumbra", "fdwowner": OWNER, "fdwhandler": 0, "fdwvalidator": 0, "fdwacl": None,
            "fdwoptions": None,
        }
    ]  # fmt: skip


def server_rows(_: CatalogImage) -> list[Row]:
    """Return the row of pg_foreign_server."""
    return [
        {
            "oid": SERVER, "srvname": "stream", "srvowner": OWNER, "srvfdw": WRAPPER, "srvtype": None, "srvversion": None,
            "srvacl": None, "srvoptions": None,
        }
    ]  # fmt: skip


SERVER_ROWS: dict[str, Callable[[CatalogImage], list[Row]]] = {
    "pg_database": database_rows,
    "pg_authid": role_rows,
    "pg_foreign_data_wrapper": wrapper_rows,
    "pg_foreign_server": server_rows,
}
