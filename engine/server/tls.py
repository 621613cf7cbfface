"""The server's TLS: a certificate with its key, checked before the server listens.

Enters: the settings' paths. Leaves: a context for connections. Raises TlsError with one line for a
person, which tells nothing of the key.
"""

from __future__ import annotations

import ssl
import stat
from pathlib import Path


class TlsError(Exception):
    """The certificate or its key can't be used."""


def make_context(certificate: Path, key: Path) -> ssl.SSLContext:
    """Return the context of a server with this certificate and key: TLS 1.2 and newer.

    Raises TlsError.
    """
    for path in (certificate, key):
        try:
            mode = path.stat().st_mode
        except OSError as error:
            raise TlsError(f"can't read {path}: {error.strerror}") from None
        if path == key and mode & (stat.S_IRWXG | stat.S_IRWXO):
            raise TlsError(f"the private key file {path} has group or world access; chmod 600 takes it away")
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.minimum_version = ssl.TLSVersion.TLSv1_2
    context.options |= ssl.OP_NO_RENEGOTIATION | ssl.OP_NO_COMPRESSION
    try:
        # Without the function, OpenSSL would ask for a passphrase at the terminal.
        context.load_cert_chain(certificate, key, password=lambda: "")
    except (OSError, ValueError) as error:
        reason = getattr(error, "reason", None) or error
        raise TlsError(f"can't use the certificate {certificate} with the key {key}: {reason}") from None
    return context
