"""The hash of the server's certificate that SCRAM binds a connection to: tls-server-end-point of
RFC 5929.

Enters: the certificate's file in PEM form. Leaves: its hash by the function of its signature, by
SHA-256 instead of MD5 and SHA-1. None where the signature names no function that clients know, as
Ed25519's (it has none) and RSASSA-PSS's (libpq 15 can't tell it): then there is no binding.
"""

from __future__ import annotations

import base64
import binascii
import hashlib
import re
from pathlib import Path

CERTIFICATE = re.compile(rb"-----BEGIN (?:X509 )?CERTIFICATE-----(.*?)-----END", re.DOTALL)
SEQUENCE, OBJECT_IDENTIFIER = 0x30, 0x06
# Object identifiers in DER: of signatures by RSA, DSA and ECDSA; the last bytes tell which.
RSA, DSA, ECDSA, NIST = "2a864886f70d0101", "2a8648ce3804", "2a8648ce3d04", "6086480165030403"
HASH_OF = {
    **dict.fromkeys((RSA + "04", RSA + "05", DSA + "03", ECDSA + "01"), "sha256"),
    **dict(
        zip((RSA + "0e", RSA + "0b", RSA + "0c", RSA + "0d"), ("sha224", "sha256", "sha384", "sha512"), strict=True)
    ),
    **{f"{ECDSA}030{at}": name for at, name in enumerate(("sha224", "sha256", "sha384", "sha512"), 1)},
    **{f"{NIST}0{at}": name for at, name in enumerate(("sha224", "sha256", "sha384", "sha512"), 1)},
}


def certificate_hash(file: Path) -> bytes | None:
    """Return the hash of the first certificate in `file`, None when there is none to bind to.

    Raises OSError.
    """
    found = CERTIFICATE.search(file.read_bytes())
    if found is None:
        return None
    try:
        certificate = base64.b64decode(found[1])
        name = HASH_OF.get(signature_algorithm(certificate).hex())
    except (binascii.Error, IndexError, ValueError):
        return None
    return None if name is None else hashlib.new(name, certificate).digest()


def signature_algorithm(certificate: bytes) -> bytes:
    """Return the object identifier of a certificate's signature.

    Raises ValueError and IndexError for bytes that are no certificate.
    """
    # Certificate ::= SEQUENCE { what is signed SEQUENCE, signatureAlgorithm SEQUENCE { OBJECT
    # IDENTIFIER, ... }, ... }
    start, _ = element(certificate, 0, SEQUENCE)
    _, signed_end = element(certificate, start, SEQUENCE)
    start, _ = element(certificate, signed_end, SEQUENCE)
    start, end = element(certificate, start, OBJECT_IDENTIFIER)
    return certificate[start:end]


def element(data: bytes, at: int, tag: int) -> tuple[int, int]:
    """Return the begin and the end of the content of the DER element at `at`."""
    if data[at] != tag:
        raise ValueError(f"tag {data[at]} instead of {tag}")
    size, at = data[at + 1], at + 2
    if size >= 0x80:
        size_bytes = size - 0x80
        size, at = int.from_bytes(data[at : at + size_bytes], "big"), at + size_bytes
    return at, at + size
