"""SCRAM-SHA-256: the RFC's vector, PostgreSQL's verifiers, SASLprep, and everything that a client
can say wrong.
"""

from __future__ import annotations

import base64
import hashlib
import hmac
import struct

import pytest

from sql.errors import SqlError
from sql.wire.scram import (
    ScramExchange,
    Verifier,
    make_verifier,
    mock_verifier,
    read_verifier,
    sasl_prepared,
)

# RFC 7677, section 3: user "user", password "pencil".
SALT = base64.b64decode("W22ZaJ0SNY7soEsUEjb6gQ==")
CLIENT_NONCE = "rOprNGfwEbeRWgbNEkqO"
SERVER_NONCE = "%hvYDpWUa2RaTCAfuxFIlj)hNlF$k0"
SERVER_FIRST = f"r={CLIENT_NONCE}{SERVER_NONCE},s=W22ZaJ0SNY7soEsUEjb6gQ==,i=4096".encode()
CLIENT_FINAL = f"c=biws,r={CLIENT_NONCE}{SERVER_NONCE},p=dHzbZapWIk4jUhN+Ute9ytag9zjfMHgsqmmiz7AndVQ=".encode()
SERVER_FINAL = b"v=6rriTRBi23WpRR/wtup+mMhUZUn/dB5nLTJRsjl95G4="
MOCK = mock_verifier("user", b"secret")


def initial(response: str | bytes, mechanism: str = "SCRAM-SHA-256", length: int | None = None) -> bytes:
    body = response.encode() if isinstance(response, str) else response
    return mechanism.encode() + b"\0" + struct.pack("!i", len(body) if length is None else length) + body


def exchange(verifier: Verifier | None = None) -> ScramExchange:
    return ScramExchange(verifier or make_verifier("pencil", SALT), MOCK, make_nonce=lambda: SERVER_NONCE)


def test_the_rfcs_exchange() -> None:
    run = exchange()
    assert run.first(initial(f"n,,n=user,r={CLIENT_NONCE}")) == SERVER_FIRST
    assert run.client_final(CLIENT_FINAL) == SERVER_FINAL


def test_without_an_initial_response_it_is_asked_for() -> None:
    run = exchange()
    assert run.first(initial(b"", length=-1)) is None
    assert run.client_first(f"n,,n=user,r={CLIENT_NONCE}".encode()) == SERVER_FIRST
    assert run.client_final(CLIENT_FINAL) == SERVER_FINAL


def test_a_wrong_password_and_no_password_look_alike() -> None:
    wrong = exchange(make_verifier("pen", SALT))
    assert wrong.first(initial(f"n,,n=user,r={CLIENT_NONCE}")) == SERVER_FIRST
    assert wrong.client_final(CLIENT_FINAL) is None
    nobody = ScramExchange(None, MOCK, make_nonce=lambda: SERVER_NONCE)
    first = nobody.first(initial(f"n,,n=user,r={CLIENT_NONCE}"))
    assert first is not None
    assert len(first) == len(SERVER_FIRST)
    assert nobody.client_final(CLIENT_FINAL) is None
    assert mock_verifier("user", b"secret").salt == MOCK.salt
    assert mock_verifier("resu", b"secret").salt != MOCK.salt != mock_verifier("user", b"other").salt


def test_not_even_who_knows_the_mock_gets_in() -> None:
    # The keys of a mock are public knowledge; a proof that fits them must not do.
    run = ScramExchange(None, MOCK, make_nonce=lambda: SERVER_NONCE)
    first = run.first(initial(f"n,,n=user,r={CLIENT_NONCE}"))
    assert first is not None
    without_proof = f"c=biws,r={CLIENT_NONCE}{SERVER_NONCE}"
    message = f"n=user,r={CLIENT_NONCE},{first.decode()},{without_proof}".encode()
    proof = base64.b64encode(hmac.digest(MOCK.stored_key, message, hashlib.sha256)).decode()
    assert run.client_final(f"{without_proof},p={proof}".encode()) is None


def test_the_verifiers_text_is_postgresqls() -> None:
    # By PostgreSQL 15: ALTER ROLE ... PASSWORD 'pencil', pg_authid.rolpassword; with the RFC's
    # salt.
    text = (
        "SCRAM-SHA-256$4096:W22ZaJ0SNY7soEsUEjb6gQ==$"
        "WG5d8oPm3OtcPnkdi4Uo7BkeZkBFzpcXkuLmtbsT4qY=:wfPLwcE6nTWhTAmQ7tl2KeoiWGPlZqQxSrmfPwDl2dU="
    )
    assert str(make_verifier("pencil", SALT)) == text
    read = read_verifier(text)
    assert read == make_verifier("pencil", SALT)
    assert "WG5d" not in repr(read)


@pytest.mark.parametrize(
    "text",
    [
        "pencil",
        "",
        "SCRAM-SHA-256$4096:W22ZaJ0SNY7soEsUEjb6gQ==$short:short",
        "SCRAM-SHA-256$0:W22ZaJ0SNY7soEsUEjb6gQ==$" + "A" * 43 + "=:" + "A" * 43 + "=",
        "SCRAM-SHA-256$4096:W22ZaJ0SNY7soEsUEjb6gQ$" + "A" * 43 + "=:" + "A" * 43 + "=",
        "SCRAM-SHA-1$4096:W22ZaJ0SNY7soEsUEjb6gQ==$" + "A" * 43 + "=:" + "A" * 43 + "=",
    ],
)
def test_what_is_no_verifier(text: str) -> None:
    assert read_verifier(text) is None


@pytest.mark.parametrize(
    ("given", "prepared"),
    [
        # RFC 4013, section 3.
        ("I\u00adX", "IX"),
        ("user", "user"),
        ("USER", "USER"),
        ("\u00aa", "a"),
        ("\u2168", "IX"),
        # What it prohibits is taken as it is: PostgreSQL's choice.
        ("\u0007", "\u0007"),
        ("é\u0007", "é\u0007"),
        ("\u0627\u0031", "\u0627\u0031"),
        ("a\u00a0b", "a b"),
        ("\u00ad", "\u00ad"),
    ],
)
def test_saslprep(given: str, prepared: str) -> None:
    assert sasl_prepared(given) == prepared


BINDING = (
    "The client selected SCRAM-SHA-256 without channel binding, but the SCRAM message includes channel binding data."
)
FIRST = [
    (b"SCRAM-SHA-256", "08P01: invalid SASL response"),
    (b"SCRAM-SHA-256\0\0\0", "08P01: insufficient data left in message"),
    (initial("n,,n=,r=x", "SCRAM-SHA-256-PLUS"), "08P01: client selected an invalid SASL authentication mechanism"),
    (initial("n,,n=,r=x", "PLAIN"), "08P01: client selected an invalid SASL authentication mechanism"),
    (initial("n,,n=,r=x", length=100), "08P01: insufficient data left in message"),
    (initial("n,,n=,r=x", length=3), "08P01: invalid message format"),
    (initial(""), "08P01: malformed SCRAM message (The message is empty.)"),
    (initial(b"n,,n=\0,r=x"), "08P01: malformed SCRAM message (Message length does not match input length.)"),
    (initial(b"n,,n=\xff,r=x"), "08P01: malformed SCRAM message (The message is not UTF-8 text.)"),
    (
        initial("p=tls-server-end-point,,n=,r=x"),
        f"08P01: malformed SCRAM message ({BINDING})",
    ),
    (initial("x,,n=,r=x"), '08P01: malformed SCRAM message (Unexpected channel-binding flag "x".)'),
    (initial("n;,n=,r=x"), '08P01: malformed SCRAM message (Comma expected, but found character ";".)'),
    (initial("n"), '08P01: malformed SCRAM message (Comma expected, but found character "end of message".)'),
    (initial("n,a=me,n=,r=x"), "0A000: client uses authorization identity, but it is not supported"),
    (initial("n,b,n=,r=x"), '08P01: malformed SCRAM message (Unexpected attribute "b" in client-first-message.)'),
    (initial("n,,m=ext,n=,r=x"), "0A000: client requires an unsupported SCRAM extension"),
    (initial("n,,r=x"), '08P01: malformed SCRAM message (Expected attribute "n" but found "r".)'),
    (initial("n,,n"), '08P01: malformed SCRAM message (Expected character "=" for attribute "n".)'),
    (initial("n,,n="), '08P01: malformed SCRAM message (Expected attribute "r" but found "end of message".)'),
    (initial("n,,n=,r="), "08P01: non-printable characters in SCRAM nonce"),
    (initial("n,,n=,r=a b"), "08P01: non-printable characters in SCRAM nonce"),
]
NONCE = CLIENT_NONCE + SERVER_NONCE
PROOF = "p=dHzbZapWIk4jUhN+Ute9ytag9zjfMHgsqmmiz7AndVQ="
FINAL = [
    (f"c=eSws,r={NONCE},{PROOF}", "08P01: unexpected SCRAM channel-binding attribute in client-final-message"),
    (f"r={NONCE},{PROOF}", '08P01: malformed SCRAM message (Expected attribute "c" but found "r".)'),
    (f"c=biws,r={CLIENT_NONCE},{PROOF}", "08P01: invalid SCRAM response (Nonce does not match.)"),
    (f"c=biws,r={NONCE}", '08P01: malformed SCRAM message (Expected attribute "p" but found "end of message".)'),
    (f"c=biws,r={NONCE},p=AAAA", "08P01: malformed SCRAM message (Malformed proof in client-final-message.)"),
    (f"c=biws,r={NONCE},p=é", "08P01: malformed SCRAM message (Malformed proof in client-final-message.)"),
    (
        f"c=biws,r={NONCE},{PROOF},x=1",
        "08P01: malformed SCRAM message (Garbage found at the end of client-final-message.)",
    ),
    ("", "08P01: malformed SCRAM message (The message is empty.)"),
]


def said(error: SqlError) -> str:
    assert error.severity == "FATAL"
    return str(error) + (f" ({error.detail})" if error.detail else "")


@pytest.mark.parametrize(("payload", "expected"), FIRST)
def test_malformed_first_messages(payload: bytes, expected: str) -> None:
    with pytest.raises(SqlError) as caught:
        exchange().first(payload)
    assert said(caught.value) == expected


@pytest.mark.parametrize(("text", "expected"), FINAL)
def test_malformed_final_messages(text: str, expected: str) -> None:
    run = exchange()
    run.first(initial(f"n,,n=user,r={CLIENT_NONCE}"))
    with pytest.raises(SqlError) as caught:
        run.client_final(text.encode())
    assert said(caught.value) == expected


def test_extensions_behind_the_nonce_are_signed_too() -> None:
    run = exchange()
    run.first(initial(f"n,,n=user,r={CLIENT_NONCE}"))
    assert run.client_final(f"c=biws,r={NONCE},x=more,{PROOF}".encode()) is None
