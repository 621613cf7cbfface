"""Rows of pg_database, pg_authid, and the foreign server of streams: objects that the whole server
has once.
"""

from __future__ import annotations

from collections.abc import Callable
from datetime import UTC, datetime, timedelta

from engine.catalog.image import CatalogImage
from engine.catalog.privileges import access_texts
from engine.system_catalog.object_oids import (
    DATABASES,
    DEFAULT_TABLESPACE,
    EXTENSION,
    OWNER,
    SERVER,
    SHARED_CLASSES,
    WRAPPER,
)
from engine.system_catalog.static_rows import CATALOG_SCHEMA, Row, relations, static_rows

ENCODING_UTF8 = 6
EPOCH = datetime(1970, 1, 1, tzinfo=UTC)


def database_rows(_: CatalogImage) -> list[Row]:
    """Return the rows of pg_database."""
    return [
        {
            "oid": oid, "datname": name, "datdba": OWNER, "encoding": ENCODING_UTF8, "datlocprovider": "c", "datistemplate": False,
            "datallowconn": True, "datconnlimit": -1, "datfrozenxid": 1, "datminmxid": 1, "dattablespace": DEFAULT_TABLESPACE,
            "datcollate": "C", "datctype": "C", "daticulocale": None, "datcollversion": None, "datacl": None,
        }
        for name, oid in DATABASES.items()
    ]  # fmt: skip


def role_rows(image: CatalogImage) -> list[Row]:
    """Return the rows of pg_authid, without verifiers of passwords."""
    return [
        {
            "oid": role.oid, "rolname": role.name, "rolsuper": role.superuser, "rolinherit": role.inherit,
            "rolcreaterole": role.create_role, "rolcreatedb": role.create_db, "rolcanlogin": role.login,
            "rolreplication": role.replication, "rolbypassrls": role.bypass_rls, "rolconnlimit": role.connection_limit,
            "rolpassword": None if role.verifier is None else "********", "rolvaliduntil": _moment(role.valid_until),
        }
        for role in image.roles.by_name.values()
    ]  # fmt: skip


def _moment(micros: int | None) -> datetime | None:
    return None if micros is None else EPOCH + timedelta(microseconds=micros)


def schema_rows(image: CatalogImage) -> list[Row]:
    """Return the rows of the schemas in pg_namespace that are not the system's."""
    privileges = image.privileges
    return [
        {
            "oid": oid,
            "nspname": name,
            "nspowner": privileges.owner(oid),
            "nspacl": access_texts(image.roles, privileges, oid),
        }
        for name, oid in image.schemas.items()
    ]


def member_rows(image: CatalogImage) -> list[Row]:
    """Return the rows of pg_auth_members."""
    return [
        {"roleid": one.role, "member": one.member, "grantor": one.grantor, "admin_option": one.admin}
        for one in image.roles.memberships
    ]


def shared_description_rows(image: CatalogImage) -> list[Row]:
    """Return the rows of pg_shdescription: the comments on roles, databases and tablespaces."""
    shared = [
        {"objoid": oid, "classoid": relations()["pg_catalog", name].oid, "description": image.comments[oid, 0]}
        for oid, name in SHARED_CLASSES.items()
        if (oid, 0) in image.comments
    ]
    roles = relations()["pg_catalog", "pg_authid"].oid
    return shared + [
        {"objoid": role.oid, "classoid": roles, "description": role.comment}
        for role in image.roles.by_name.values()
        if role.comment is not None
    ]


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


def extension_rows(_: CatalogImage) -> list[Row]:
    """Return the row of pg_extension: what every database has beside PostgreSQL's own objects, so
    that no dump makes it again.
    """
    return [
        {
            "oid": EXTENSION, "extname": "antumbra", "extowner": OWNER, "extnamespace": CATALOG_SCHEMA, "extrelocatable": False,
            "extversion": "1.0", "extconfig": None, "extcondition": None,
        }
    ]  # fmt: skip


def first_privilege_rows(_: CatalogImage) -> list[Row]:
    """Return the rows of pg_init_privs: the privileges on pg_catalog that every database has."""
    schemas = [row for row in static_rows("pg_namespace") if row["nspacl"] and row["oid"] == CATALOG_SCHEMA]
    place = {"classoid": relations()["pg_catalog", "pg_namespace"].oid, "objsubid": 0, "privtype": "i"}
    return [{"objoid": row["oid"], "initprivs": row["nspacl"], **place} for row in schemas]


SERVER_ROWS: dict[str, Callable[[CatalogImage], list[Row]]] = {
    "pg_database": database_rows,
    "pg_authid": role_rows,
    "pg_auth_members": member_rows,
    "pg_namespace": schema_rows,
    "pg_shdescription": shared_description_rows,
    "pg_foreign_data_wrapper": wrapper_rows,
    "pg_foreign_server": server_rows,
    "pg_extension": extension_rows,
    "pg_init_privs": first_privilege_rows,
}
