"""SCRAM-SHA-256 (RFC 5802, RFC 7677) as the server speaks it: passwords to verifiers, and one
client's exchange.

With channel binding (SCRAM-SHA-256-PLUS) the client proves as well that it talks to this server's
certificate, and to nobody in between.

Enters: passwords, verifiers as PostgreSQL stores them, the bodies of a client's SASL messages.
Leaves: verifiers, the server's messages, and whether the client knows the password. Malformed
messages raise SqlError (FATAL) in PostgreSQL's words. Must not know roles.
"""

from __future__ import annotations

import base64
import binascii
import hmac
import re
import secrets
import stringprep
import struct
import unicodedata
from collections.abc import Callable
from dataclasses import dataclass
from hashlib import pbkdf2_hmac, sha256

from sql.errors import SqlError
from sql.wire.startup import fatal

MECHANISM = "SCRAM-SHA-256"
MECHANISM_PLUS = "SCRAM-SHA-256-PLUS"
BINDING_TYPE = "tls-server-end-point"
ITERATIONS = 4096
SALT_BYTES = 16
KEY_BYTES = 32
NONCE_BYTES = 18
VERIFIER = re.compile(r"SCRAM-SHA-256\$(\d{1,9}):([A-Za-z0-9+/]+={0,2})\$([A-Za-z0-9+/]{43}=):([A-Za-z0-9+/]{43}=)")
# The words of a client about channel binding ('n': it can't, 'y': it could, but thinks that we
# can't), and the same again at the end.
BINDINGS = {"n": "biws", "y": "eSws"}
PROHIBITED: tuple[Callable[[str], bool], ...] = (
    stringprep.in_table_c12,
    stringprep.in_table_c21_c22,
    stringprep.in_table_c3,
    stringprep.in_table_c4,
    stringprep.in_table_c5,
    stringprep.in_table_c6,
    stringprep.in_table_c7,
    stringprep.in_table_c8,
    stringprep.in_table_c9,
    stringprep.in_table_a1,
)


@dataclass(frozen=True, slots=True)
class Verifier:
    """The verifier that the server keeps of a password.

    Its text is PostgreSQL's; repr tells nothing.
    """

    iterations: int
    salt: bytes
    stored_key: bytes
    server_key: bytes

    def __str__(self) -> str:
        salt, stored, server = (_base64(part) for part in (self.salt, self.stored_key, self.server_key))
        return f"{MECHANISM}${self.iterations}:{salt}${stored}:{server}"

    def __repr__(self) -> str:
        return "Verifier(...)"


def make_verifier(password: str, salt: bytes | None = None, iterations: int = ITERATIONS) -> Verifier:
    """Return the verifier of a password; this takes some milliseconds.

    salt: None takes a random one.
    """
    salt = secrets.token_bytes(SALT_BYTES) if salt is None else salt
    salted = pbkdf2_hmac("sha256", sasl_prepared(password).encode(), salt, iterations)
    stored = sha256(_hmac(salted, b"Client Key")).digest()
    return Verifier(iterations, salt, stored, _hmac(salted, b"Server Key"))


def read_verifier(text: str) -> Verifier | None:
    """Return the verifier that `text` is, None when the text is something else, such as a
    password.
    """
    match = VERIFIER.fullmatch(text)
    if match is None or int(match[1]) < 1:
        return None
    try:
        salt, stored, server = (base64.b64decode(part, validate=True) for part in match.groups()[1:])
    except binascii.Error:
        return None
    return Verifier(int(match[1]), salt, stored, server)


def sasl_prepared(password: str) -> str:
    """Return a password as SASLprep (RFC 4013) normalizes it.

    A password that SASLprep refuses is taken as it is, as in PostgreSQL.
    """
    if password.isascii():
        return password
    mapped = "".join(
        " " if stringprep.in_table_c12(character) else character
        for character in password
        if not stringprep.in_table_b1(character)
    )
    prepared = unicodedata.normalize("NFKC", mapped)
    if not prepared or any(refuses(character) for character in prepared for refuses in PROHIBITED):
        return password
    if any(stringprep.in_table_d1(character) for character in prepared):
        ends = stringprep.in_table_d1(prepared[0]) and stringprep.in_table_d1(prepared[-1])
        if not ends or any(stringprep.in_table_d2(character) for character in prepared):
            return password
    return prepared


def mock_verifier(user: str, secret: bytes) -> Verifier:
    """Return a verifier for a user without a password: the same salt each time, and keys that
    nobody has.
    """
    salt = sha256(user.encode() + secret).digest()[:SALT_BYTES]
    return Verifier(ITERATIONS, salt, bytes(KEY_BYTES), bytes(KEY_BYTES))


class ScramExchange:
    """The authentication of one client.

    Attributes:
        verifier: None lets the authentication fail, but the client can't tell before its end.
        mock: the verifier to show instead.
        end_point: the hash of the certificate that the connection is encrypted with, None without
            one.
        make_nonce: makes the server's part of the nonce.
    """

    def __init__(
        self,
        verifier: Verifier | None,
        mock: Verifier,
        end_point: bytes | None = None,
        make_nonce: Callable[[], str] = lambda: _base64(secrets.token_bytes(NONCE_BYTES)),
    ) -> None:
        self._is_doomed = verifier is None
        self._verifier = mock if verifier is None else verifier
        self._make_nonce = make_nonce
        self._end_point = end_point
        # The client has chosen a mechanism with channel binding.
        self._binds = False
        self._binding = ""
        self._client_first = ""
        self._server_first = ""
        self._nonce = ""

    @property
    def mechanisms(self) -> tuple[str, ...]:
        """The mechanisms that the client may choose from, the better one first."""
        return (MECHANISM,) if self._end_point is None else (MECHANISM_PLUS, MECHANISM)

    def first(self, payload: bytes) -> bytes | None:
        """Return server-first for a SASLInitialResponse.

        None: the message had no response in it, and the server asks for the response by an empty
        challenge.
        """
        name_end = payload.find(0)
        if name_end < 0 or len(payload) < name_end + 5:
            raise _protocol("invalid SASL response" if name_end < 0 else "insufficient data left in message")
        if payload[:name_end] not in [name.encode() for name in self.mechanisms]:
            raise _protocol("client selected an invalid SASL authentication mechanism")
        self._binds = payload[:name_end] == MECHANISM_PLUS.encode()
        (length,) = struct.unpack_from("!i", payload, name_end + 1)
        response = payload[name_end + 5 :]
        if length == -1 and not response:
            return None
        if length != len(response):
            raise _protocol("insufficient data left in message" if length > len(response) else "invalid message format")
        return self.client_first(response)

    def client_first(self, response: bytes) -> bytes:
        """Return server-first for client-first."""
        text = _text(response)
        rest = self._read_binding(text)
        if rest.startswith("a"):
            raise fatal("0A000", "client uses authorization identity, but it is not supported")
        if not rest.startswith(","):
            raise _malformed(f'Unexpected attribute "{_shown(rest[:1])}" in client-first-message.')
        self._client_first = rest[1:]
        if self._client_first.startswith("m"):
            raise fatal("0A000", "client requires an unsupported SCRAM extension")
        _, rest = _attribute(self._client_first, "n")
        nonce, _ = _attribute(rest, "r")
        if not nonce or not all("!" <= character <= "~" for character in nonce):
            raise _protocol("non-printable characters in SCRAM nonce")
        self._nonce = nonce + self._make_nonce()
        verifier = self._verifier
        self._server_first = f"r={self._nonce},s={_base64(verifier.salt)},i={verifier.iterations}"
        return self._server_first.encode()

    def _read_binding(self, text: str) -> str:
        """Note the channel binding of client-first; return the text after it."""
        flag = text[:1]
        if flag == "p":
            if not self._binds:
                raise _malformed(
                    "The client selected SCRAM-SHA-256 without channel binding, but the SCRAM message includes channel binding data."
                )
            kind, rest = _attribute(text, "p")
            if kind != BINDING_TYPE:
                raise _protocol(f'unsupported SCRAM channel-binding type "{_printable(kind)}"')
            assert self._end_point is not None
            self._binding = _base64(f"p={BINDING_TYPE},,".encode() + self._end_point)
            return rest
        if flag not in BINDINGS or not flag:
            raise _malformed(f'Unexpected channel-binding flag "{_shown(flag)}".')
        if self._binds:
            raise _malformed(
                "The client selected SCRAM-SHA-256-PLUS, but the SCRAM message does not include channel binding data."
            )
        if text[1:2] != ",":
            raise _malformed(f'Comma expected, but found character "{_shown(text[1:2])}".')
        if flag == "y" and self._end_point is not None:
            # Somebody on the way has taken PLUS off the list of mechanisms.
            raise fatal_with(
                "SCRAM channel binding negotiation error",
                "The client supports SCRAM channel binding but thinks the server does not.  "
                "However, this server does support channel binding.",
                "28000",
            )
        self._binding = BINDINGS[flag]
        return text[2:]

    def client_final(self, response: bytes) -> bytes | None:
        """Return server-final for client-final, None when the client does not know the password."""
        text = _text(response)
        binding, rest = _attribute(text, "c")
        if binding != self._binding:
            if self._binds:
                raise fatal("28000", "SCRAM channel binding check failed")
            raise _protocol("unexpected SCRAM channel-binding attribute in client-final-message")
        nonce, rest = _attribute(rest, "r")
        while rest and not rest.startswith("p="):
            _, _, rest = rest.partition(",")
        proof_text, rest = _attribute(rest, "p")
        if rest:
            raise _malformed("Garbage found at the end of client-final-message.")
        try:
            proof = base64.b64decode(proof_text, validate=True)
        except (binascii.Error, ValueError):
            proof = b""
        if len(proof) != KEY_BYTES:
            raise _malformed("Malformed proof in client-final-message.")
        if not hmac.compare_digest(nonce.encode(), self._nonce.encode()):
            raise fatal_with("invalid SCRAM response", "Nonce does not match.")
        without_proof = text[: text.rindex(",p=")]
        message = ",".join((self._client_first, self._server_first, without_proof)).encode()
        signature = _hmac(self._verifier.stored_key, message)
        client_key = bytes(one ^ other for one, other in zip(proof, signature, strict=True))
        is_right = hmac.compare_digest(sha256(client_key).digest(), self._verifier.stored_key)
        if self._is_doomed or not is_right:
            return None
        return f"v={_base64(_hmac(self._verifier.server_key, message))}".encode()


def fatal_with(message: str, detail: str, sqlstate: str = "08P01") -> SqlError:
    """Return an error with a detail, by default a protocol violation."""
    error = fatal(sqlstate, message)
    error.detail = detail
    return error


def _protocol(message: str) -> SqlError:
    return fatal("08P01", message)


def _malformed(detail: str) -> SqlError:
    return fatal_with("malformed SCRAM message", detail)


def _text(response: bytes) -> str:
    if not response:
        raise _malformed("The message is empty.")
    if 0 in response:
        raise _malformed("Message length does not match input length.")
    try:
        return response.decode()
    except UnicodeDecodeError:
        raise _malformed("The message is not UTF-8 text.") from None


def _attribute(text: str, name: str) -> tuple[str, str]:
    """Return the value of the attribute that `text` begins with, and the text after its comma."""
    if not text.startswith(name):
        raise _malformed(f'Expected attribute "{name}" but found "{_shown(text[:1])}".')
    if text[1:2] != "=":
        raise _malformed(f'Expected character "=" for attribute "{name}".')
    value, _, rest = text[2:].partition(",")
    return value, rest


def _shown(character: str) -> str:
    """Return a character as an error may show it."""
    if "!" <= character <= "~":
        return character
    return f"0x{ord(character):02x}" if character else "end of message"


def _printable(text: str) -> str:
    """Return a client's word as an error may show it: 30 characters at most, as in PostgreSQL."""
    return "".join(character if "!" <= character <= "~" else "?" for character in text[:30])


def _hmac(key: bytes, message: bytes) -> bytes:
    return hmac.digest(key, message, "sha256")


def _base64(data: bytes) -> str:
    return base64.b64encode(data).decode()
