"""Does the server in this container answer? Exit status 0 if SELECT 1 comes back from 127.0.0.1 in
time, else 1 and a line why.

A server that asks for a password, which is not known here, is healthy if it says so in time.
"""

from __future__ import annotations

import sys

import psycopg

PORT_DEFAULT = 5433
ANSWER_S_MAX = 4


def main(arguments: list[str]) -> int:
    """Ask the server at the port given, or at the default one."""
    port = int(arguments[0]) if arguments else PORT_DEFAULT
    try:
        with psycopg.connect(
            host="127.0.0.1", port=port, dbname="antumbra", user="health", connect_timeout=ANSWER_S_MAX, autocommit=True
        ) as connection:
            connection.execute("SELECT 1")
    except psycopg.Error as error:
        if "no password supplied" in str(error):
            return 0
        print(f"not healthy: {error}", file=sys.stderr)
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
