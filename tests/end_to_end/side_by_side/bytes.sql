-- Single bytes of a bytea, by position, and what lies outside of it.
CREATE TABLE pieces (id int, b bytea);
INSERT INTO pieces VALUES (1, 'abc'), (2, '\x00ff'), (3, NULL);
SELECT id, get_byte(b, 1), set_byte(b, 1, 65), set_byte(b, 0, 321), set_byte(b, 1, -1), set_byte(b, 1, NULL) FROM pieces ORDER BY id;
SELECT set_byte('abc', 3, 65);
SELECT set_byte(b, -1, 65) FROM pieces;
SELECT set_byte('', 0, 1);
SELECT get_byte(b, 2) FROM pieces WHERE id = 2;
DROP TABLE pieces;
