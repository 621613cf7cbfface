"""The superuser's password at the first start of a server that asks for passwords: made by chance,
told in one file.

Enters: the opened database. Leaves: a verifier in the catalog, and the password in a file that only
the server's user can read. The password is in no log and on no terminal.
"""

from __future__ import annotations

import secrets
from contextlib import suppress
from dataclasses import replace
from pathlib import Path

from engine.catalog.published import PublishedCatalog
from engine.catalog.roles import BOOTSTRAP_OID
from engine.commit.committer import Committer
from engine.commit.transactions import Transactions
from engine.settings.config import ServerConfig
from engine.storage.storage import Storage
from sql.wire.scram import make_verifier

FILE_NAME = "superuser-password"
PASSWORD_BYTES = 18


def give_password(
    config: ServerConfig,
    storage: Storage,
    catalog: PublishedCatalog,
    transactions: Transactions,
    committer: Committer,
) -> Path | None:
    """Give the superuser a password unless there is one; return the file with the password.

    Raises OSError and SqlError.

    The file comes first: after a crash in between, the next start writes the file anew.
    """
    image = catalog.image
    superuser = image.roles.by_oid(BOOTSTRAP_OID)
    if superuser is None or superuser.verifier is not None:
        return None
    password = secrets.token_urlsafe(PASSWORD_BYTES)
    path = config.data_dir / FILE_NAME
    with suppress(FileNotFoundError):
        storage.remove(path)
    file = storage.create(path)
    try:
        file.write(0, password.encode() + b"\n")
        file.sync()
    finally:
        file.close()
    storage.sync_folder(path.parent)
    changed = replace(superuser, verifier=str(make_verifier(password)))
    transaction = transactions.begin()
    transaction.change_catalog(replace(image, roles=image.roles.with_role(changed), version=image.version + 1))
    committer.commit(transaction)
    return path
