"""GRANT and REVOKE of privileges, OWNER TO, REASSIGN and DROP OWNED, comments on roles and schemas.

Enters: statements, the image that they change, the role that says them. Leaves: the changed image,
warnings, or PostgreSQL's errors. Must not know messages.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace

from engine.catalog.image import WORDS, CatalogImage, SequenceEntry
from engine.catalog.privileges import (
    LETTERS,
    OF_FUNCTION,
    OF_RELATION,
    OF_SCHEMA,
    OF_SEQUENCE,
    Grant,
    added,
    ordered,
)
from engine.catalog.roles import BOOTSTRAP_OID, PUBLIC
from engine.catalog.system import the_system
from engine.ddl.dependents import owned_by
from engine.ddl.dropping import drop, drop_all
from engine.ddl.types import named_type
from engine.dialect.access import RoleWork, changes_access, named_role, role_work
from engine.execution.defining import finish, table_work
from engine.execution.registry import handles
from engine.execution.rights import denied
from engine.execution.work import Work
from sql.errors import SqlError
from sql.names.relation_keys import name_of, schema_of
from sql.parse.statements.drop import DropRelation
from sql.parse.statements.functions import ChangeFunctionOwner, CommentOnFunction
from sql.parse.statements.grants import GrantPrivileges
from sql.parse.statements.owners import ChangeOwner, CommentOn, DropOwned, ReassignOwned
from sql.parse.statements.parts import RoleSpec

OF_KIND = {
    "table": OF_RELATION,
    "relation": OF_RELATION,
    "sequence": OF_SEQUENCE,
    "schema": OF_SCHEMA,
    "function": OF_FUNCTION,
}
# Privileges that GRANT ON a table's name may also name where the name is a sequence's.
OF_TABLE_WORDS = OF_RELATION + "U"
# Relations that OWNER TO takes under each kind's name.
TAKES = {
    "table": ("table", "foreign table", "view", "sequence"),
    "foreign table": ("foreign table",),
    "view": ("view",),
    "sequence": ("sequence",),
}


@dataclass(frozen=True)
class Target:
    """An object of a GRANT.

    Attributes:
        kind: as errors call it.
        everything: letters of all its privileges.
    """

    oid: int
    name: str
    kind: str
    everything: str


@changes_access(GrantPrivileges)
def grant_privileges(statement: GrantPrivileges, work: RoleWork) -> None:
    """Do GRANT or REVOKE."""
    targets = dict.fromkeys(_targets(statement, work.image))
    letters = _letters(statement)
    if statement.grantor is not None and named_role(statement.grantor, work).oid != work.current:
        raise SqlError("0A000", "grantor must be current user")
    named = (PUBLIC if spec.kind == "public" else named_role(spec, work).oid for spec in statement.grantees)
    grantees = tuple(dict.fromkeys(named))
    if statement.option and not statement.revokes and PUBLIC in grantees:
        raise SqlError("0LP01", "grant options can only be granted to roles")
    for target in targets:
        wanted = _fitting(letters, target, statement, work)
        grantor, possible = work.image.privileges.may_grant(work.roles, work.current, target.oid, target.everything)
        given = "".join(letter for letter in wanted if letter in possible)
        _warn_of_missing(statement, target, wanted, given, work)
        grants = work.image.privileges.access_list(target.oid, target.everything)
        for grantee in grantees:
            if statement.revokes:
                grants = _without(grants, grantee, grantor, given, statement)
            elif given:
                options = given if statement.option else ""
                grants = added(grants, Grant(grantee, grantor, given, options))
        work.put(privileges=work.image.privileges.with_grants(target.oid, grants))


def _targets(statement: GrantPrivileges, image: CatalogImage) -> list[Target]:
    if statement.kind == "schema":
        return [schema_target(name, image) for name, _ in statement.names]
    if statement.kind == "function":
        return [_function(one.oid, image) for one in statement.functions]
    if statement.kind == "all functions":
        schemas = {schema_target(name, image).name for name, _ in statement.names}
        return [_function(oid, image) for oid, one in image.functions.items() if schema_of(one.name) in schemas]
    if statement.kind.startswith("all "):
        schemas = {schema_target(name, image).name for name, _ in statement.names}
        wanted = statement.kind == "all sequences"
        return [
            _relation(name, image)
            for name, entry in image.entries.items()
            if isinstance(entry, SequenceEntry) == wanted and schema_of(name) in schemas
        ]
    found = [_relation(name, image) for name, _ in statement.names]
    for target in found:
        if statement.kind == "sequence" and target.kind != "sequence":
            raise SqlError("42809", f'"{target.name}" is not a sequence')
    return found


def schema_target(name: str, image: CatalogImage) -> Target:
    """Return a schema. Raises 3F000."""
    oid = image.schemas.get(name)
    if oid is None:
        raise SqlError("3F000", f'schema "{name}" does not exist')
    return Target(oid, name, "schema", OF_SCHEMA)


def _function(oid: int, image: CatalogImage) -> Target:
    return Target(oid, name_of(image.functions[oid].name), "function", OF_FUNCTION)


def _type(name: str, image: CatalogImage) -> Target:
    enum = named_type(name, image)
    return Target(enum.oid, name_of(enum.name), "type", "")


def _relation(name: str, image: CatalogImage) -> Target:
    entry = image.existing(name)
    kind = WORDS[entry.description.kind]
    return Target(entry.description.oid, name, kind, OF_SEQUENCE if kind == "sequence" else OF_RELATION)


def _letters(statement: GrantPrivileges) -> str:
    """Return the privileges that a statement names. Raises 42601 and 0LP01; none: all."""
    kinds = {"all tables": "relation", "all sequences": "sequence", "table": "relation", "all functions": "function"}
    kind = kinds.get(statement.kind, statement.kind)
    allowed = OF_TABLE_WORDS if kind == "relation" else OF_KIND[kind]
    letters = ""
    for word in statement.words:
        letter = LETTERS.get(word.upper())
        if letter is None and word.upper() not in ("TEMPORARY", "TEMP", "CONNECT", "SET"):
            raise SqlError("42601", f'unrecognized privilege type "{word}"')
        if letter is None or letter not in allowed:
            raise SqlError("0LP01", f"invalid privilege type {word.upper()} for {kind}")
        letters += letter
    return ordered(letters)


def _fitting(letters: str, target: Target, statement: GrantPrivileges, work: RoleWork) -> str:
    """Return those of the named privileges that an object has: TABLE also names sequences."""
    if not statement.words:
        return target.everything
    fitting = "".join(letter for letter in letters if letter in target.everything)
    if fitting == letters:
        return letters
    if target.kind != "sequence":
        raise SqlError("0LP01", "invalid privilege type USAGE for table")
    work.notice("0LP01", f'sequence "{target.name}" only supports USAGE, SELECT, and UPDATE privileges', "WARNING")
    return fitting


def _warn_of_missing(statement: GrantPrivileges, target: Target, wanted: str, given: str, work: RoleWork) -> None:
    """Give warnings for privileges that can't be granted.

    Raise 42501 for a role that has no right at all on the object.
    """
    if set(given) == set(wanted):
        return
    privileges = work.image.privileges
    if not given and not privileges.may(work.roles, work.current, target.oid, target.everything):
        raise denied(f"permission denied for {target.kind} {target.name}")
    state, done = ("01006", "could be revoked") if statement.revokes else ("01007", "were granted")
    if given and not statement.words:
        return
    how_many = "not all" if given else "no"
    work.notice(state, f'{how_many} privileges {done} for "{target.name}"', "WARNING")


def _without(
    grants: tuple[Grant, ...], grantee: int, grantor: int, letters: str, statement: GrantPrivileges
) -> tuple[Grant, ...]:
    """Return an access list without the privileges that `grantor` gave.

    Privileges that were passed on go with them, or are in the way.
    """
    kept: list[Grant] = []
    lost = ""
    for one in grants:
        if (one.grantee, one.grantor) == (grantee, grantor):
            lost = "".join(letter for letter in letters if letter in one.options)
            options = "".join(letter for letter in one.options if letter not in letters)
            left = one.letters if statement.option else "".join(x for x in one.letters if x not in letters)
            one = replace(one, letters=left, options=options)
        if one.letters:
            kept.append(one)
    found = tuple(kept)
    still = {letter for one in found if one.grantee == grantee for letter in one.options}
    lost = "".join(letter for letter in lost if letter not in still)
    for one in grants:
        passed_on = "".join(letter for letter in one.letters if letter in lost)
        if one.grantor == grantee and one.grantee != grantee and passed_on and grantee != grantor:
            if not statement.cascade:
                raise SqlError("2BP01", "dependent privileges exist", hint="Use CASCADE to revoke them too.")
            found = _without(found, one.grantee, grantee, passed_on, replace(statement, option=False))
    return found


@changes_access(ChangeOwner)
def change_owner(statement: ChangeOwner, work: RoleWork) -> None:
    """Do ALTER ... OWNER TO."""
    if statement.kind == "schema":
        target = schema_target(statement.name, work.image)
        require_owner(target, work)
        owner = _new_owner(statement.role, work)
        if owner != work.image.privileges.owner(target.oid) and not work.roles.is_superuser(work.current):
            # The right to make a schema is needed, see `engine.dialect.schemas`.
            raise denied(f"permission denied for database {work.database}")
        work.put(privileges=work.image.privileges.with_owner(target.oid, owner))
        return
    if statement.kind == "type":
        _give(_type(statement.name, work.image), statement.name, statement.role, work)
        return
    if statement.if_exists and statement.name not in work.image.entries:
        work.notice("00000", f'relation "{statement.name}" does not exist, skipping', "NOTICE")
        return
    entry = work.image.existing(statement.name)
    target = _relation(statement.name, work.image)
    if target.kind not in TAKES[statement.kind]:
        article = "a" if statement.kind != "index" else "an"
        raise SqlError("42809", f'"{statement.name}" is not {article} {statement.kind}')
    is_other = named_role(statement.role, work).oid != work.image.privileges.owner(target.oid)
    if isinstance(entry, SequenceEntry) and entry.owner is not None and is_other:
        table = work.image.by_oid(entry.owner[0])
        name = "" if table is None else table.description.name
        detail = f'Sequence "{target.name}" is linked to table "{name}".'
        raise SqlError("0A000", "cannot change owner of sequence", detail=detail)
    _give(target, statement.name, statement.role, work)


@changes_access(ChangeFunctionOwner)
def change_function_owner(statement: ChangeFunctionOwner, work: RoleWork) -> None:
    """Do ALTER FUNCTION ... OWNER TO."""
    oid = statement.function.oid
    _give(_function(oid, work.image), work.image.functions[oid].name, statement.role, work)


def _give(target: Target, key: str, spec: RoleSpec, work: RoleWork) -> None:
    """Give an object, and the sequences that go with it, to a role, which may create in its schema.

    key: of the object.
    """
    require_owner(target, work)
    owner = _new_owner(spec, work)
    if owner != work.image.privileges.owner(target.oid):
        _require_creator(owner, key, work)
    for oid in (target.oid, *(one.description.oid for one in owned_by(work.image, target.oid))):
        work.put(privileges=work.image.privileges.with_owner(oid, owner))


@changes_access(CommentOnFunction)
def comment_on_function(statement: CommentOnFunction, work: RoleWork) -> None:
    """Do COMMENT ON FUNCTION."""
    work.image = work.image.with_comment(statement.function.oid, 0, statement.comment)


@changes_access(ReassignOwned)
def reassign_owned(statement: ReassignOwned, work: RoleWork) -> None:
    """Do REASSIGN OWNED."""
    before = [named_role(spec, work) for spec in statement.roles]
    after = named_role(statement.role, work)
    for role in (*before, after):
        if not work.roles.has_privileges_of(work.current, role.oid):
            raise denied("permission denied to reassign objects")
    gone = {role.oid for role in before}
    privileges = work.image.privileges
    for oid in work.image.oids:
        if privileges.owner(oid) in gone:
            privileges = privileges.with_owner(oid, after.oid)
    work.put(privileges=privileges)


@handles(DropOwned)
async def drop_owned(statement: DropOwned, work: Work) -> None:
    """Drop the objects of roles, and take back the privileges that the roles were given."""
    changed = await table_work(work)
    gone = owned_roles(statement, role_work(changed.image, work))
    for owned in owned_relations(changed.image, gone, statement.cascade):
        try:
            await work.threads.in_worker(drop, owned, changed)
        except SqlError as error:
            if error.sqlstate != "2BP01":
                raise
            message = "cannot drop desired object(s) because other objects depend on them"
            raise replace(error, message=message) from None
    owners = changed.image.privileges.owner
    functions = [one for one in changed.image.functions.values() if owners(one.oid) in gone]
    types = [one for one in changed.image.types.values() if owners(one.oid) in gone]
    await work.threads.in_worker(drop_all, [*functions, *types], statement.cascade, changed)
    changed.image = without_grants(changed.image, gone)
    finish(changed, work)


def owned_roles(statement: DropOwned, work: RoleWork) -> frozenset[int]:
    """Return the roles whose objects are to be dropped. Raises 42704 and 42501."""
    roles = [named_role(spec, work) for spec in statement.roles]
    for role in roles:
        if not work.roles.has_privileges_of(work.current, role.oid):
            raise denied("permission denied to drop objects")
        if role.oid == BOOTSTRAP_OID:
            message = f"cannot drop objects owned by role {role.name} because they are required by the database system"
            raise SqlError("2BP01", message)
    return frozenset(role.oid for role in roles)


def owned_relations(image: CatalogImage, owners: frozenset[int], cascade: bool) -> Iterator[DropRelation]:
    """Yield the statements that drop the relations of roles, views first."""
    for kinds, kind in (
        (("view", "query"), "view"),
        (("table",), "table"),
        (("stream",), "stream"),
        (("sequence",), "sequence"),
    ):
        names = tuple(
            (entry.description.name, 0)
            for entry in image.entries.values()
            if entry.description.kind in kinds
            and image.privileges.owner(entry.description.oid) in owners
            and not (isinstance(entry, SequenceEntry) and entry.owner is not None)
        )
        if names:
            yield DropRelation("", kind, names, if_exists=True, cascade=cascade)


def without_grants(image: CatalogImage, roles: frozenset[int]) -> CatalogImage:
    """Return an image in which nothing is granted to or by the roles, or on dropped objects."""
    present = frozenset(image.oids)
    privileges = image.privileges
    for oid, grants in privileges.grants.items():
        kept = [one for one in grants if not {one.grantee, one.grantor} & roles]
        if oid in present and len(kept) < len(grants):
            privileges = privileges.with_grants(oid, kept)
    return replace(image, privileges=privileges, version=image.version + 1)


@changes_access(CommentOn)
def comment_on(statement: CommentOn, work: RoleWork) -> None:
    """Do COMMENT ON ROLE, SCHEMA, TYPE and what the whole server has."""
    if statement.kind in WHOLE_OBJECTS:
        _comment_on_whole(statement, work)
        return
    if statement.role is None:
        find = schema_target if statement.kind == "schema" else _type
        target = find(statement.name, work.image)
        require_owner(target, work)
        work.image = work.image.with_comment(target.oid, 0, statement.comment)
        return
    role = named_role(statement.role, work)
    if role.superuser and not work.attribute("superuser"):
        raise denied("must be superuser")
    if not work.attribute("create_role"):
        raise denied("must have CREATEROLE privilege")
    work.put(roles=work.roles.with_role(replace(role, comment=statement.comment)))


# The catalog relation of each kind of object that the whole server has, and its word in errors.
WHOLE_OBJECTS = {
    "database": ("pg_database", "database"),
    "tablespace": ("pg_tablespace", "tablespace"),
    "server": ("pg_foreign_server", "server"),
    "foreign data wrapper": ("pg_foreign_data_wrapper", "foreign-data wrapper"),
    "extension": ("pg_extension", "extension"),
}


def _comment_on_whole(statement: CommentOn, work: RoleWork) -> None:
    """Do COMMENT ON an object that the whole server has, which is the superuser's.

    A database that is not there is told in a warning, since dumps name that from which they come.
    """
    relation, word = WHOLE_OBJECTS[statement.kind]
    oid = the_system().named(work.image, relation, statement.name)
    if oid is None and statement.kind == "database":
        work.notice("3D000", f'database "{statement.name}" does not exist', "WARNING")
    elif oid is None and statement.name != "plpgsql":
        raise SqlError("42704", f'{word} "{statement.name}" does not exist')
    elif not work.attribute("superuser"):
        raise denied(f"must be owner of {word} {statement.name}")
    elif oid is not None:
        work.image = work.image.with_comment(oid, 0, statement.comment)


def require_owner(target: Target, work: RoleWork) -> None:
    """Raise 42501 unless the role owns an object."""
    if not work.roles.has_privileges_of(work.current, work.image.privileges.owner(target.oid)):
        raise denied(f"must be owner of {target.kind} {target.name}")


def _require_creator(owner: int, name: str, work: RoleWork) -> None:
    """Raise 42501 for a new owner who could not have made the object in its place."""
    schema = work.image.schema_oid(name)
    if not work.roles.is_superuser(work.current) and not work.image.privileges.may(work.roles, owner, schema, "C"):
        raise denied(f"permission denied for schema {schema_of(name)}")


def _new_owner(spec: RoleSpec, work: RoleWork) -> int:
    role = named_role(spec, work)
    if not work.roles.is_member(work.current, role.oid):
        raise denied(f'must be member of role "{role.name}"')
    return role.oid
