"""Run: python FILE PORT ; its stdout must be FILE.expected (same name). Needs psycopg 3."""
import struct
import sys

import psycopg

PORT = sys.argv[1] if len(sys.argv) > 1 else "5433"
c = psycopg.connect(f"host=127.0.0.1 port={PORT} user=antumbra dbname=antumbra", autocommit=True, prepare_threshold=0)
# PostgreSQL has no streams: there it is a table.
STREAM = c.execute("SELECT version() LIKE '%Antumbra%' OR current_setting('server_version') LIKE '%Antumbra%'").fetchone()[0]
c.execute("DROP SCHEMA IF EXISTS k18b CASCADE"); c.execute("CREATE SCHEMA k18b"); c.execute("SET search_path = k18b"); c.execute("SET TimeZone = 'America/New_York'")
c.execute("CREATE TYPE mood AS ENUM ('sad', 'ok')")
kind, end = ("FOREIGN TABLE", " SERVER stream") if STREAM else ("TABLE", "")
c.execute(f"CREATE {kind} s (a int, b text NOT NULL, at timestamptz, n numeric(6,2) NOT NULL DEFAULT 1.5, m mood, f float8, d date, long text){end}")
c.execute(f"CREATE {kind} r (a int NOT NULL, b int, c text NOT NULL){end}")
def told(run):
    try: run(); print("fine")
    except psycopg.Error as e: print(e.sqlstate, "|", e.diag.message_primary, "|", e.diag.context, "|", e.diag.message_detail, "|", e.diag.column_name)
def copy(sql, data):
    def run():
        with c.cursor().copy(sql) as k: k.write(data)
    told(run)
copy("COPY s (a, b) FROM STDIN", "1\tx\n2\t\\N\n3\ty\n")
copy("COPY s (a, b) FROM STDIN (FORMAT csv)", '1,x\n2,"two\nlines"\n3,\n')
copy("COPY s (a, b) FROM STDIN (FORMAT csv, HEADER)", "a,b\n1,x\n2,\n")
copy("COPY s (a, b) FROM STDIN", "1\tx\n2\t\\N\nwrong\ty\n")
copy("COPY s (a, b) FROM STDIN", "1\tx\nwrong\ty\n2\t\\N\n")
copy("COPY s (a) FROM STDIN", "1\n2\n")
copy("COPY s (a, b, at, n, m, f, d, long) FROM STDIN", "1\tx\t2024-01-01 00:00+00\t\\N\tok\t1.5\t2024-02-03\t" + "long " * 30 + "\n")
copy("COPY r FROM STDIN", "".join(f"{i}\t{i}\tx\n" for i in range(3000)) + "\\N\t1\t\\N\n")
copy("COPY r FROM STDIN", "1\t1\t\\N\n\\N\t1\tx\n")
copy("COPY r FROM STDIN (FORMAT binary)", b"PGCOPY\n\xff\r\n\0" + struct.pack("!ii", 0, 0) + struct.pack("!hiiiii1s", 3, 4, 1, 4, 2, 1, b"x") + struct.pack("!hiiii1s", 3, -1, 4, 2, 1, b"y") + struct.pack("!h", -1))
told(lambda: c.execute("INSERT INTO s VALUES (1, NULL, '2024-01-01 00:00+00')"))
told(lambda: c.execute("INSERT INTO s (a) VALUES (1), (2)"))
told(lambda: c.execute("INSERT INTO s (a, b) VALUES (%s, %s)", (5, None)))
told(lambda: c.execute("INSERT INTO s (b, n) VALUES ('x', NULL)"))
told(lambda: c.execute("INSERT INTO s (a, b) SELECT g, CASE WHEN g < 3 THEN 'x' END FROM generate_series(1, 4) g"))
told(lambda: c.execute("INSERT INTO r VALUES (1, 1, 'x'), (2, 2, NULL)"))
c.execute("DROP SCHEMA k18b CASCADE")
