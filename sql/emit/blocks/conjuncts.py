"""Conditions of WHERE, HAVING and ON: one text per conjunct, so that an engine still finds the
joins among them.

A conjunct that may raise is guarded by the conjuncts before it that read the same FROM items:
PostgreSQL, too, computes these first.
"""

from __future__ import annotations

from sql.emit.expressions import ExpressionPrinter
from sql.emit.failing import can_fail
from sql.tree.expressions import Call, Expression, Subquery
from sql.tree.walks import columns_of, conjuncts, walk


def conjunct_texts(printer: ExpressionPrinter, predicate: Expression) -> tuple[str, ...]:
    """Return texts that are all true exactly where `predicate` is."""
    safe: list[tuple[frozenset[str], str]] = []
    texts: list[str] = []
    # Conjuncts that join nothing.
    filters: list[str] = []
    printer.in_condition = True
    for conjunct in conjuncts(predicate):
        items = from_items(printer, conjunct)
        guards = [text for read, text in safe if read <= items]
        printer.is_condition = is_membership(conjunct)
        if not guards or not can_fail(conjunct):
            text = printer.text(conjunct)
        else:
            with printer.guard():
                text = f"CASE WHEN {' AND '.join(guards)} THEN {printer.text(conjunct)} ELSE FALSE END"
        printer.is_condition = False
        text = printer.conjunct(text, conjunct)
        if not can_fail(conjunct):
            safe.append((items, text))
        is_choice = isinstance(conjunct, Call) and conjunct.function == "or"
        is_filter = (is_choice or len(items) < 2) and not any(isinstance(part, Subquery) for part in walk(conjunct))
        texts.append(text)
        filters += [text] if is_filter else []
    printer.in_condition = False
    few = printer.few_conditions(filters, " AND ")
    if few is filters:
        return tuple(texts)
    kept = frozenset(filters)
    return (*few, *(text for text in texts if text not in kept))


def is_membership(conjunct: Expression) -> bool:
    """True for [NOT] IN (SELECT ...), which engines know as joins."""
    if isinstance(conjunct, Call) and conjunct.function == "not":
        conjunct = conjunct.arguments[0]
    return isinstance(conjunct, Subquery)


def from_items(printer: ExpressionPrinter, node: Expression) -> frozenset[str]:
    """Return the aliases of the FROM items that an expression reads."""
    return frozenset(printer.columns[column.index].partition(".")[0] for column in columns_of(node))
