"""LISTEN, UNLISTEN and NOTIFY, which happen at COMMIT."""

from __future__ import annotations

from engine.commit.notifications import checked_notice
from engine.statements.outcome import Outcome
from engine.statements.registry import handles
from engine.statements.work import Work
from sql.parse.statements.notifications import Listen, Notify


@handles(Listen)
def listen(statement: Listen, work: Work) -> Outcome:
    """Begin or end to listen to a channel."""
    work.transaction.listening.append((statement.channel, statement.on))
    return Outcome(statement.tag)


@handles(Notify)
def notify(statement: Notify, work: Work) -> Outcome:
    """Tell all who listen to a channel. Raises 22023."""
    work.transaction.notices[checked_notice(statement.channel, statement.payload)] = None
    return Outcome(statement.tag)
