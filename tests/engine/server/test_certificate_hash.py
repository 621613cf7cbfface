"""tls-server-end-point, against what openssl says of certificates of every kind of signature."""

from __future__ import annotations

import hashlib
import subprocess
from pathlib import Path

import pytest

from engine.server.certificate_hash import certificate_hash

RSA = ["-newkey", "rsa:2048"]
EC = ["-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1"]


@pytest.mark.turns(4)
@pytest.mark.parametrize(
    ("key", "digest", "expected"),
    [
        (RSA, "sha256", "sha256"),
        (RSA, "sha1", "sha256"),
        (RSA, "md5", "sha256"),
        (RSA, "sha224", "sha224"),
        (RSA, "sha384", "sha384"),
        (RSA, "sha512", "sha512"),
        (EC, "sha1", "sha256"),
        (EC, "sha256", "sha256"),
        (EC, "sha384", "sha384"),
        (EC, "sha512", "sha512"),
        (["-newkey", "ed25519"], "sha256", None),
        ([*RSA, "-sigopt", "rsa_padding_mode:pss"], "sha256", None),
    ],
)
def test_the_hash_is_that_of_the_signature(tmp_path: Path, key: list[str], digest: str, expected: str | None) -> None:
    file = tmp_path / "server.crt"
    command = ["openssl", "req", "-x509", "-nodes", "-days", "2", "-subj", "/CN=x", f"-{digest}", *key]
    subprocess.run([*command, "-keyout", tmp_path / "key", "-out", file], check=True, capture_output=True)
    der = subprocess.run(["openssl", "x509", "-in", file, "-outform", "DER"], check=True, capture_output=True).stdout
    # What stands around a certificate in such a file.
    file.write_bytes(b"subject=CN = x\n" + file.read_bytes() + (tmp_path / "key").read_bytes())
    assert certificate_hash(file) == (None if expected is None else hashlib.new(expected, der).digest())


@pytest.mark.parametrize(
    "text",
    [b"", b"-----BEGIN CERTIFICATE-----\nMIIB\n-----END CERTIFICATE-----\n", b"-----BEGIN CERTIFICATE-----\n-----END"],
)
def test_what_is_no_certificate_binds_nobody(tmp_path: Path, text: bytes) -> None:
    file = tmp_path / "server.crt"
    file.write_bytes(text)
    assert certificate_hash(file) is None
