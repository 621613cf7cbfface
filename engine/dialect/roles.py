"""CREATE, ALTER and DROP ROLE, and GRANT and REVOKE of roles to roles.

Enters: statements, the image that they change, the role that says them. Leaves: the changed image,
or PostgreSQL's errors. Must not know messages.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from engine.catalog.roles import BOOTSTRAP_OID, DATABASE_OWNER, FIRST_FREE_OID, PREDEFINED, Membership, Role, Roles
from engine.ddl.dependents import shown
from engine.dialect.access import RoleWork, changes_access, named_role
from engine.execution.rights import denied
from sql.errors import SqlError, not_supported
from sql.names.relation_keys import described, is_temporary
from sql.parse.statements.parts import RoleOptions, RoleSpec
from sql.parse.statements.roles import AlterRole, CreateRole, DropRole, GrantRole
from sql.types.datatypes import TIMESTAMPTZ
from sql.values.literals import input_value
from sql.wire.scram import make_verifier, read_verifier

SENIOR = ("superuser", "replication", "bypass_rls")
SENIOR_WORDS = {"superuser": "superusers", "replication": "replication users", "bypass_rls": "bypassrls users"}
MD5_CHARACTERS = 35


@changes_access(CreateRole)
def create_role(statement: CreateRole, work: RoleWork) -> None:
    """Make a role."""
    options, name = statement.options, statement.role.name
    wanted = dict(options.attributes)
    if not work.attribute("superuser"):
        for attribute in SENIOR:
            if wanted.get(attribute):
                raise denied(f"must be superuser to create {SENIOR_WORDS[attribute]}")
        if not work.attribute("create_role"):
            raise denied("permission denied to create role")
    _refuse_reserved(name, 'Role names starting with "pg_" are reserved.')
    if name in work.roles.by_name:
        raise SqlError("42710", f'role "{name}" already exists')
    oid = work.image.next_oid
    work.image = replace(work.image, next_oid=oid + 1)
    work.put(roles=work.roles.with_role(_with_options(Role(name, oid), options, work)))
    this = RoleSpec(name, "name", 0)
    if options.in_roles:
        for group in options.in_roles:
            _let_in(named_role(group, work), [this], False, work)
    made = named_role(this, work)
    _let_in(made, options.members, False, work, is_new=True)
    _let_in(made, options.admins, True, work, is_new=True)


@changes_access(AlterRole)
def alter_role(statement: AlterRole, work: RoleWork) -> None:
    """Change a role, or give it another name."""
    _refuse_reserved(statement.role.name, "Cannot alter reserved roles.")
    role = named_role(statement.role, work)
    options = statement.options
    if statement.new_name is not None:
        _rename(role, statement.new_name, work)
        return
    wanted = dict(options.attributes)
    if not work.attribute("superuser"):
        if "superuser" in wanted or role.superuser:
            raise denied("must be superuser to alter superuser roles or change superuser attribute")
        if "replication" in wanted or role.replication:
            raise denied("must be superuser to alter replication roles or change replication attribute")
        if "bypass_rls" in wanted:
            raise denied("must be superuser to change bypassrls attribute")
        own_password = role.oid == work.current and options == RoleOptions(
            sets_password=options.sets_password, password=options.password
        )
        is_above = role.oid != work.current and _is_above(role, work)
        if (not work.attribute("create_role") or is_above) and not own_password:
            raise denied("permission denied")
    if role.oid == BOOTSTRAP_OID and wanted.get("superuser") is False:
        raise SqlError(
            "42501", "permission denied to alter role", detail="The bootstrap user must have the SUPERUSER attribute."
        )
    work.put(roles=work.roles.with_role(_with_options(role, options, work)))
    _let_in(role, options.members, False, work)


def _rename(role: Role, new: RoleSpec, work: RoleWork) -> None:
    for oid, word in ((work.session, "session"), (work.current, "current")):
        if role.oid == oid:
            raise SqlError("0A000", f"{word} user cannot be renamed")
    _refuse_reserved(new.name, 'Role names starting with "pg_" are reserved.')
    if new.name in work.roles.by_name:
        raise SqlError("42710", f'role "{new.name}" already exists')
    if role.superuser and not work.attribute("superuser"):
        raise denied("must be superuser to rename superusers")
    if not work.attribute("create_role"):
        raise denied("permission denied to rename role")
    work.put(roles=work.roles.with_role(replace(role, name=new.name)))


@changes_access(DropRole)
def drop_role(statement: DropRole, work: RoleWork) -> None:
    """Drop roles."""
    if not work.attribute("create_role"):
        raise denied("permission denied to drop role")
    for spec in statement.roles:
        role = work.roles.by_name.get(spec.name)
        if role is None:
            if not statement.if_exists:
                raise SqlError("42704", f'role "{spec.name}" does not exist')
            work.notice("00000", f'role "{spec.name}" does not exist, skipping', "NOTICE")
            continue
        for oid, word in ((work.current, "current"), (work.session, "session")):
            if role.oid == oid:
                raise SqlError("55006", f"{word} user cannot be dropped")
        if role.superuser and not work.attribute("superuser"):
            raise denied("must be superuser to drop superusers")
        if role.oid < FIRST_FREE_OID:
            message = f"cannot drop role {role.name} because it is required by the database system"
            raise SqlError("2BP01", message)
        _refuse_needed(role, work)
        work.put(roles=work.roles.without_role(role))


def _refuse_needed(role: Role, work: RoleWork) -> None:
    """Raise 2BP01 for a role that owns an object, or that a privilege was granted to or by."""
    privileges = work.image.privileges
    objects = [(oid, f"schema {name}") for name, oid in work.image.schemas.items() if not is_temporary(name)]
    objects += [(one.oid, f"type {described(one.name)}") for one in work.image.types.values()]
    objects += [(one.oid, f"function {one.signature}") for one in work.image.functions.values()]
    objects += [(entry.description.oid, shown(entry)) for entry in work.image.entries.values()]
    found = []
    for oid, text in sorted(objects):
        if privileges.owner(oid) == role.oid:
            found.append(f"owner of {text}")
        elif any(role.oid in (one.grantee, one.grantor) for one in privileges.grants.get(oid, ())):
            found.append(f"privileges for {text}")
    if found:
        message = f'role "{role.name}" cannot be dropped because some objects depend on it'
        raise SqlError("2BP01", message, detail="\n".join(found))


@changes_access(GrantRole)
def grant_role(statement: GrantRole, work: RoleWork) -> None:
    """Let roles into others, or out of them."""
    # As in PostgreSQL, REVOKE takes no notice of the role that has granted.
    given = None if statement.revokes else statement.grantor
    grantor = work.current if given is None else named_role(given, work).oid
    for spec in statement.roles:
        role = named_role(spec, work)
        if statement.revokes:
            _let_out(role, statement.members, statement.admin, work)
        else:
            _let_in(role, statement.members, statement.admin, work, grantor=grantor)


def _let_in(
    role: Role,
    members: Sequence[RoleSpec],
    admin: bool,
    work: RoleWork,
    is_new: bool = False,
    grantor: int | None = None,
) -> None:
    """Make roles members of `role`.

    is_new: the statement has just made the role, and may say who is in it. grantor: by default the
    role that says the statement.
    """
    found = [named_role(spec, work) for spec in members]
    if found and role.name == DATABASE_OWNER:
        raise SqlError("0LP01", f'role "{role.name}" cannot have explicit members')
    if found and not is_new:
        _check_admin(role, work)
    grantor = work.current if grantor is None else grantor
    if grantor != work.current and not work.attribute("superuser"):
        raise denied("must be superuser to set grantor")
    for member in found:
        if member.name == DATABASE_OWNER:
            raise SqlError("0LP01", f'role "{member.name}" cannot be a member of any role')
        if member.oid in work.roles.reached_from(role.oid, inheriting=False):
            raise SqlError("0LP01", f'role "{role.name}" is a member of role "{member.name}"')
        known = _membership(role, member, work.roles)
        if known is not None and (known.admin or not admin):
            work.notice("00000", f'role "{member.name}" is already a member of role "{role.name}"', "NOTICE")
            continue
        others = [one for one in work.roles.memberships if one is not known]
        work.put(roles=work.roles.with_memberships([*others, Membership(role.oid, member.oid, admin, grantor)]))


def _let_out(role: Role, members: Sequence[RoleSpec], admin_only: bool, work: RoleWork) -> None:
    _check_admin(role, work)
    for spec in members:
        member = named_role(spec, work)
        known = _membership(role, member, work.roles)
        if known is None:
            text = f'role "{member.name}" is not a member of role "{role.name}"'
            work.notice("01000", text, "WARNING")
            continue
        kept = [one for one in work.roles.memberships if one is not known]
        if admin_only:
            kept.append(replace(known, admin=False))
        work.put(roles=work.roles.with_memberships(kept))


def _check_admin(role: Role, work: RoleWork) -> None:
    if role.superuser:
        if not work.attribute("superuser"):
            raise denied("must be superuser to alter superusers")
        return
    if work.roles.may_admin(work.current, role.oid):
        return
    if not work.attribute("create_role") or _is_above(role, work):
        raise denied(f'must have admin option on role "{role.name}"')


def _is_above(role: Role, work: RoleWork) -> bool:
    """Tell whether CREATEROLE is not enough to become a role, which may do what superusers alone
    can let others do.

    PostgreSQL 15 lets every role with CREATEROLE take pg_read_server_files, and with it every file
    of the server's user; 16 does not.
    """
    reached = work.roles.reached_from(role.oid, inheriting=False)
    above = {*PREDEFINED.values()} | {one.oid for one in work.roles.by_name.values() if one.superuser}
    return not work.attribute("superuser") and not above.isdisjoint(reached)


def _membership(role: Role, member: Role, roles: Roles) -> Membership | None:
    return next((one for one in roles.memberships if (one.role, one.member) == (role.oid, member.oid)), None)


def _with_options(role: Role, options: RoleOptions, work: RoleWork) -> Role:
    changes: dict[str, object] = dict(options.attributes)
    if options.connection_limit is not None:
        if options.connection_limit < -1:
            raise SqlError("22023", f"invalid connection limit: {options.connection_limit}")
        changes["connection_limit"] = options.connection_limit
    if options.valid_until is not None:
        forever = options.valid_until.strip().lower() == "infinity"
        changes["valid_until"] = None if forever else input_value(options.valid_until, TIMESTAMPTZ, work.time_zone)
    if options.sets_password:
        changes["verifier"] = _verifier(options.password, work)
    return replace(role, **changes)  # type: ignore[arg-type]  # names and types are those of the fields


def _verifier(password: str | None, work: RoleWork) -> str | None:
    """Return the form in which a password is kept; the password may be a verifier already."""
    if password == "":
        work.notice("00000", "empty string is not a valid password, clearing password", "NOTICE")
    if not password:
        return None
    if password.startswith("md5") and len(password) == MD5_CHARACTERS:
        raise not_supported("an md5 password", hint="Give the password itself, or a SCRAM-SHA-256 verifier.")
    given = read_verifier(password)
    if given is None and work.password_encryption != "scram-sha-256":
        raise not_supported("an md5 password", hint="SET password_encryption = 'scram-sha-256'.")
    return str(make_verifier(password) if given is None else given)


def _refuse_reserved(name: str, detail: str) -> None:
    if name.startswith("pg_"):
        raise SqlError("42939", f'role name "{name}" is reserved', detail=detail)
