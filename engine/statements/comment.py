"""COMMENT ON a relation, a column or a constraint."""

from __future__ import annotations

from engine.catalog.comments import with_comment
from engine.execution.registry import handles
from engine.execution.work import Work
from sql.parse.statements.comment import Comment


@handles(Comment)
def comment(statement: Comment, work: Work) -> None:
    """Keep the comment, or take it away."""
    work.transaction.change_catalog(with_comment(statement, work.image))
