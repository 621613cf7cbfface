"""The door of the dialects: a client's text in its own dialect to texts in PostgreSQL's SQL.

Enters: the text of one or more statements. Leaves: the text of each, which our own grammar reads,
with warnings about what means something else. Queries and CREATE VIEW are translated; other
statements are PostgreSQL's, and stay as they are. Raises 42601 for what the dialect's grammar does
not read, 0A000 for what would mean something else, 54000 and 54001 for what is too long or too
deep.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass

from sqlglot import exp
from sqlglot.errors import ErrorLevel, UnsupportedError
from sqlglot.tokenizer_core import Token, TokenType

from sql.dialects.allowed import require_allowed
from sql.dialects.context import BACKSLASHES, ColumnsOf, Context
from sql.dialects.kinds import OF_FAMILY
from sql.dialects.names import fold_names, mark_units
from sql.dialects.nodes import rewritten
from sql.dialects.queries import with_clauses
from sql.dialects.reading import dialect_of, require_bounded, statements_of, tokens_of, tree_of
from sql.errors import SqlError
from sql.names.dialects import POSTGRES
from sql.parse.lexer import refuse_unsafe_strings
from sql.parse.parse import parse
from sql.parse.statements.create_view import CreateView
from sql.parse.statements.declaration import Empty
from sql.parse.statements.select import Select

QUERY = re.compile(r"(select|with|values|from|\()", re.IGNORECASE)
VIEW = re.compile(
    r"create\s+(or\s+(replace|alter)\s+)?((secure|materialized|force|live|recursive|incremental|temp|temporary|no\s+force|"
    r"algorithm\s*=\s*\w+|definer\s*=\s*\S+|sql\s+security\s+\w+|streaming|editionable|noneditionable)\s+)*(view|table\b.*\bas)\b|alter\s+view\b.*\bas\s+select",
    re.IGNORECASE | re.DOTALL,
)
# Properties of a view that change nothing about its rows.
LEFT_OUT = (
    *(
        exp.SecureProperty,
        exp.SchemaCommentProperty,
        exp.AlgorithmProperty,
        exp.DefinerProperty,
        exp.SqlSecurityProperty,
    ),
    *(exp.MaterializedProperty, exp.ViewAttributeProperty, exp.ForceProperty, exp.TemporaryProperty),
)


# What encloses an expression by itself.
ENCLOSING = (
    *(exp.If, exp.Case, exp.Anonymous, exp.Select, exp.Alias, exp.Where, exp.Having, exp.Cast, exp.Ordered, exp.Paren),
    *(exp.Group, exp.Join),
)


@dataclass(frozen=True)
class Translated:
    """One statement.

    Attributes:
        text: in PostgreSQL's SQL.
        notes: warnings about it.
        is_changed: False for a statement that stays as it was written.
    """

    text: str
    notes: tuple[str, ...] = ()
    is_changed: bool = False


def no_columns(_: tuple[str, ...]) -> None:
    """Return that nothing is known of a relation's columns."""


@dataclass(frozen=True)
class Piece:
    """One statement of a client's text, which is not translated yet. line: from 1."""

    tokens: list[Token]
    text: str
    dialect: str
    line: int

    def translated(self, columns_of: ColumnsOf = no_columns, pretty: bool = False) -> Translated:
        """Return the statement in PostgreSQL's SQL. Raises SqlError.

        columns_of: what is known of relations' columns. pretty: on lines, for people.
        """
        return translated_statement(self.tokens, self.text, Context(self.dialect, columns_of, pretty=pretty))


def pieces(text: str, dialect: str) -> Iterator[Piece]:
    """Yield the statements of a text, one after the other. Raises 42601."""
    for tokens in statements_of(tokens_of(text, dialect)):
        yield Piece(tokens, text, dialect, tokens[0].line)


def translate(text: str, dialect: str, columns_of: ColumnsOf = no_columns) -> Iterator[Translated]:
    """Yield the statements of a text in PostgreSQL's SQL, one after the other.

    Raises SqlError, whose positions are those of `text`.
    """
    for piece in pieces(text, dialect):
        yield piece.translated(columns_of)


def translated_statement(tokens: list[Token], text: str, context: Context) -> Translated:
    """Return one statement in PostgreSQL's SQL."""
    written = text[tokens[0].start : tokens[-1].end + 1]
    if not QUERY.match(written) and not VIEW.match(written):
        return kept(written, context)
    require_bounded(tokens)
    if context.dialect == "mysql":
        for token in tokens:
            if token.token_type == TokenType.DPIPE:
                raise SqlError(
                    "0A000",
                    "|| of MySQL is OR, and can't be translated",
                    token.start + 1,
                    hint="Write CONCAT(a, b), or a OR b.",
                )
    try:
        found = printed(of_tree(tree_of(tokens, text, context.dialect), context), context)
    except RecursionError:
        hint = "Nest fewer expressions, subqueries, WITH queries or views in each other."
        raise SqlError("54001", "stack depth limit exceeded", hint=hint) from None
    require_ours(found, (Select, CreateView))
    return Translated(found, tuple(context.notes), is_changed=True)


def kept(written: str, context: Context) -> Translated:
    """Return a statement that is PostgreSQL's. Raises 0A000 for constants that the dialect means
    otherwise.
    """
    if context.dialect in BACKSLASHES:
        try:
            refuse_unsafe_strings(written)
        except SqlError as error:
            what = f"a backslash in a string constant outside of SELECT and CREATE VIEW in {context.shown}"
            raise SqlError("0A000", f"{what} can't be translated", hint=error.hint) from None
    require_ours(written, (object,))
    return Translated(written)


def require_ours(text: str, kinds: tuple[type, ...]) -> None:
    """Raise 0A000 unless our own grammar reads a text as one statement of these kinds."""
    try:
        found = [one for one in parse(text) if not isinstance(one, Empty)]
    except SqlError as error:
        # Its positions are those of another text.
        raise SqlError(
            error.sqlstate, f"{error.message} (in the translated statement)", detail=text, hint=error.hint
        ) from None
    if len(found) != 1 or not isinstance(found[0], kinds):
        raise SqlError("0A000", "this statement can't be translated", detail=text)


def of_tree(tree: exp.Expr, context: Context) -> exp.Expr:
    """Return a statement's tree with nodes of PostgreSQL's alone."""
    if isinstance(tree, exp.Create):
        tree = of_view(tree, context)
    if not isinstance(tree, exp.Query | exp.Create | exp.Values):
        raise context.refusal("this statement", tree)
    learn_columns(tree, context)
    mark_units(tree, context)
    tree = rewritten(with_clauses(tree, context), context)
    without_hints(tree, context)
    without_parentheses(tree)
    give_aliases(tree)
    fold_names(tree, context)
    require_allowed(tree, context)
    return tree


def of_view(tree: exp.Create, context: Context) -> exp.Create:
    """Return CREATE VIEW without what changes nothing about its rows."""
    if tree.kind != "VIEW" or not isinstance(tree.expression, exp.Query):
        raise context.refusal(f"CREATE {tree.kind}", tree)
    for one in tree.args["properties"].expressions if tree.args.get("properties") else ():
        if not isinstance(one, LEFT_OUT):
            raise context.refusal(f"{one.sql(context.dialect) or type(one).__name__} of a view", tree)
        if isinstance(one, exp.MaterializedProperty):
            context.note("CREATE MATERIALIZED VIEW is CREATE VIEW: over a stream it is kept up to date")
        else:
            context.note(f"{one.sql(context.dialect) or type(one).__name__} is left out")
    tree.set("properties", None)
    if tree.args.get("exists") or tree.args.get("no_schema_binding"):
        raise context.refusal("IF NOT EXISTS of a view", tree)
    return tree


def learn_columns(tree: exp.Expr, context: Context) -> None:
    """Note the kinds of columns whose names mean one kind in all relations of the statement."""
    unclear: set[str] = set()
    own = {cte.alias.lower() for cte in tree.find_all(exp.CTE)}
    for table in tree.find_all(exp.Table):
        if not isinstance(table.this, exp.Identifier) or (not table.db and table.name.lower() in own):
            continue
        schema = "" if context.dialect == "tsql" and table.db.lower() == "dbo" else table.db
        columns = context.columns_of(tuple(part.lower() for part in (schema, table.name) if part))
        for name, family in (columns or {}).items():
            kind = OF_FAMILY.get(family, family)
            if context.columns.setdefault(name.lower(), kind) != kind:
                unclear.add(name.lower())
    # A name that a query gives to a column of its own may be of another kind.
    unclear |= {alias.alias.lower() for alias in tree.find_all(exp.Alias)}
    for name in unclear:
        context.columns.pop(name, None)


def give_aliases(tree: exp.Expr) -> None:
    """Give a name to each subquery of FROM that has none."""
    for place, node in enumerate(list(tree.find_all(exp.Subquery))):
        if isinstance(node.parent, exp.From | exp.Join) and not node.alias:
            node.set("alias", exp.TableAlias(this=exp.to_identifier(f"_query_{place + 1}")))


def without_parentheses(tree: exp.Expr) -> None:
    """Take away parentheses where no operator stands beside them."""
    for node in list(tree.find_all(exp.Paren)):
        if isinstance(node.parent, ENCLOSING) and not isinstance(node.this, exp.Query | exp.Tuple):
            node.replace(node.this)


def without_hints(tree: exp.Expr, context: Context) -> None:
    """Take away hints of the planner."""
    for node in tree.find_all(exp.Table):
        if node.args.get("hints"):
            context.note("hints for a table are left out")
            node.set("hints", None)
    for select in tree.find_all(exp.Select):
        if select.args.get("hint"):
            context.note("hints for the planner are left out")
            select.set("hint", None)


def printed(tree: exp.Expr, context: Context) -> str:
    """Return the text of a tree."""
    generator = dialect_of(POSTGRES).generator(
        comments=False, unsupported_level=ErrorLevel.RAISE, pretty=context.pretty
    )
    try:
        return generator.generate(tree)
    except UnsupportedError as error:
        raise context.refusal(f"a construct ({error})", tree) from None
