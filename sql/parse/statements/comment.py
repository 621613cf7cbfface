"""COMMENT ON a relation, sequence, index, column or constraint IS 'text' | NULL.

The forms are TABLE | FOREIGN TABLE | VIEW | SEQUENCE | INDEX name, COLUMN relation.column, and
CONSTRAINT name ON relation.
"""

from __future__ import annotations

from dataclasses import dataclass

from sql.errors import SqlError, not_supported
from sql.parse.grammar.cursor import Cursor, relation_of
from sql.parse.statements.declaration import Naming, Right, Statement
from sql.parse.statements.functions import CommentOnFunction, comment_on_function
from sql.parse.statements.options import comment_text
from sql.parse.statements.owners import WHOLE, CommentOn, comment_on
from sql.parse.statements.rules import begins
from sql.parse.statements.unsupported import commented_object


@dataclass(frozen=True)
class Comment(Statement, tag="COMMENT", defines=True, named=(("name", Naming.KNOWN),)):
    """The statement COMMENT ON kind name IS comment.

    Attributes:
        kind: as of DropRelation, 'index', or 'column' or 'constraint' of the relation `name`.
        part: the name of the column or constraint.
        comment: None takes the comment away.
    """

    kind: str
    name: str
    name_position: int
    part: str | None
    comment: str | None

    @property
    def rights(self) -> tuple[tuple[str, Right], ...]:
        """See Statement."""
        if self.kind == "index":
            return (("name", Right.OWN_INDEX),)
        return (("name", Right.OWN if self.part is None else Right.OWN_PART),)


@begins("comment")
def comment(cursor: Cursor) -> Comment | CommentOn | CommentOnFunction:
    """Read the statement from its first word."""
    start = cursor.position
    cursor.expect("comment", "on")
    part = None
    if cursor.at("function", "routine"):
        return comment_on_function(cursor)
    if cursor.at("role", "schema", "type") or any(cursor.at_words(*words.split()) for words in WHOLE):
        return comment_on(cursor)
    if cursor.accept("foreign", "table"):
        kind = "stream"
    else:
        found = cursor.accept_any("table", "view", "sequence", "index", "column", "constraint")
        if found is None:
            raise commented_object(cursor, start)
        kind = found
    position = cursor.position
    if kind == "column":
        parts = cursor.qualified_name()
        if len(parts) == 1:
            cursor.defer(SqlError("42601", "column name must be qualified"))
        *relation, part = parts
        name = relation_of(tuple(relation) or (part,), position)
    else:
        if kind == "constraint":
            part = cursor.name()
            cursor.expect("on")
            if cursor.at("domain") and cursor.ahead(1).kind in ("word", "quoted") and cursor.ahead(1).value != "is":
                raise not_supported("COMMENT ON CONSTRAINT ... ON DOMAIN", start)
            position = cursor.position
        name = cursor.relation_name()
    text = comment_text(cursor)
    return Comment(cursor.statement_text, kind, name, position, part, text)
