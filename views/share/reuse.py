"""The test whether the state of a view answers another query, so that CREATE OR REPLACE VIEW can go
on with it.

Enters: the pipeline by which a state is kept, and the plan of the new query. Leaves: the new plan
over that state, or why there is none. The state covers the new pipeline if that has the same
stream, joins and keys, no aggregate that can't be read from the states, and no conditions but those
of the state and conditions on keys: these are checked while groups are exported. Must not build
anything.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

from ringbuffer.groups.aggregates import State
from sql.tree.expressions import AggregateCall, Column, Expression
from sql.types.datatypes import SqlType
from views.codegen.grouping import AggregateSlot, Grouping, input_key, input_of, make_grouping, state_of
from views.codegen.support import kernel_supports
from views.model.nodes import OF_FIRST_ROWS, Probe, StreamPipeline, is_of_distinct_on
from views.model.plan import Plan, chain
from views.model.properties import cannot_fail
from views.model.steps import unique_names
from views.model.text import aggregate_text, expression_text
from views.model.trees import columns_of, meaning, rewrite
from views.share.counting_points import NONE, Marked, Marks, plan_marks

Keys = Sequence[tuple[str, Expression]]
# Conditions of a stream's rows in words, where there are none.
ALL_ROWS = "all rows"


@dataclass
class NotCoveredError(Exception):
    """A state does not answer a query.

    Attributes:
        reason: a sentence for the DETAIL of the refusal.
        is_of_conditions: it chooses rows in another way.
    """

    reason: str
    is_of_conditions: bool = False


def cover(kept: StreamPipeline, plan: Plan, is_over: bool = False, is_below: bool = False) -> Plan:
    """Return `plan` over a state that is kept by the pipeline `kept`. Raises NotCoveredError.

    is_over: the plan was made over `kept`, so that the query alone does not tell it again.
    is_below: a query stands above the plan.
    """
    wanted = plan.stream
    assert _types(wanted) == _types(kept), "the caller compares the same columns of the same stream"
    if wanted.on_error != kept.on_error:
        raise NotCoveredError(f"The view was made with on_error = {kept.on_error}.")
    if wanted.closing != kept.closing:
        raise NotCoveredError("Its windows close at other times, or it treats late rows in another way.")
    if [_joined(probe) for probe in wanted.probes] != [_joined(probe) for probe in kept.probes]:
        raise NotCoveredError("The new query joins the stream with other tables, or in another way.")
    keys = [meaning(key) for _, key in wanted.keys]
    if len(keys) != len(kept.keys) or set(keys) != {meaning(key) for _, key in kept.keys}:
        told = ", ".join(expression_text(key) for _, key in kept.keys) or "nothing"
        raise NotCoveredError(f"The new query groups the stream in another way; it is grouped by {told}.")
    above = _key_conditions(kept, wanted)
    _refuse_mixed(covered_grouping(make_grouping(kept), wanted), plan, is_below)
    finish = replace(plan.finish, predicates=(*above, *plan.finish.predicates))
    if not all(kernel_supports(predicate, finish.input) for predicate in above):
        raise NotCoveredError("The new query has other conditions on the stream's rows.")
    stream = with_conditions(wanted, kept)
    is_same = (
        not kept.added
        and stream == wanted
        and [meaning(key) for _, key in kept.keys] == keys
        and _calls(kept) == _calls(wanted)
    )
    return chain(stream, finish, plan.upper, plan.tail, None if is_same and not is_over else kept)


def equal_plan(kept: StreamPipeline, plan: Plan) -> Plan | None:
    """Return `plan` over a state kept by `kept`, if the state has just what the plan needs.

    Else None.
    """
    wanted = plan.stream
    # What has counted from different points is equal to nothing that begins.
    if (
        kept.added
        or _types(wanted) != _types(kept)
        or {meaning(part) for part in _conditions(wanted)} != {meaning(part) for part in _conditions(kept)}
    ):
        return None
    try:
        found = cover(kept, plan)
        covered_grouping(make_grouping(wanted), kept)
        return found
    except NotCoveredError:
        return None


def with_conditions(wanted: StreamPipeline, kept: StreamPipeline) -> StreamPipeline:
    """Return the pipeline `wanted` with the filters and the probes' columns of `kept`."""
    probes = tuple(
        replace(probe, kept=old.kept, filters=old.filters)
        for probe, old in zip(wanted.probes, kept.probes, strict=True)
    )
    return replace(wanted, filters=kept.filters, probes=probes)


def covered_grouping(kept: Grouping, wanted: StreamPipeline) -> Grouping:
    """Return how the groups of `wanted` are read from rows in the layout of `kept`.

    Raises NotCoveredError.
    """
    slots = {meaning(slot.expression): slot for slot in kept.keys}
    aggregates = []
    for _, call in wanted.aggregates:
        if call.function in OF_FIRST_ROWS:
            aggregates.append(_first_slot(kept, call))
            continue
        state = state_of(call)
        number = _input_with(kept, call, state)
        if number is None or call.distinct:
            raise NotCoveredError(f"The new query needs {aggregate_text(call)}, which can't be told from what is kept.")
        aggregates.append(AggregateSlot(call, number, state))
    keys = tuple(slots[meaning(key)] for _, key in wanted.keys)
    return replace(kept, keys=keys, aggregates=tuple(aggregates))


def _input_with(kept: Grouping, call: AggregateCall, state: State) -> int | None:
    """Return the number of the first input from which an aggregate is read, or None."""
    key = input_key(input_of(call, state))
    found = (number for number, slot in enumerate(kept.inputs) if input_key(slot) == key)
    return next((number for number in found if state is State.COUNT or state in kept.inputs[number].states), None)


def _refuse_mixed(read: Grouping, plan: Plan, is_below: bool) -> None:
    """Raise NotCoveredError where one value is made of aggregates that have counted different rows.

    An average could be made of such a sum and such a count. is_below: a query stands above, which
    the caller looks at.
    """
    generations = [read.inputs[slot.input].generation for slot in read.aggregates]
    if len(set(generations)) < 2 or is_below:
        return
    start = len(read.keys)
    for part in (*plan.finish.predicates, *(item for _, item in plan.finish.items)):
        used = [generations[index - start] for index in columns_of(part) if index >= start]
        if len(set(used)) > 1:
            raise NotCoveredError(f"{expression_text(part)} is made of aggregates that count from different points on.")
    refuse_mixed(plan_marks(plan, [NONE] * start + [frozenset({one}) for one in generations]))


def refuse_mixed(found: Marked) -> None:
    """Raise NotCoveredError where what chooses rows, or makes a column, counts from different
    points on.
    """
    if any(len(marks) > 1 for marks in (found.rows, *found.columns)):
        raise NotCoveredError("The query above the groups mixes aggregates that count from different points on.")


def refuse_added(found: Marked, added: Marks, columns_count: int) -> None:
    """Raise NotCoveredError where aggregates that are added now choose rows, or make one of the
    columns that were there before.
    """
    if added & found.rows.union(*found.columns[:columns_count]):
        raise NotCoveredError("Only a column that comes last can be an aggregate that counts from now on.")


def state_marks(plan: Plan, name: str) -> Marked:
    """Return the marks of the rows of a state: 0, or the name of the state and the number of the
    times that aggregates were added.
    """
    read = covered_grouping(make_grouping(plan.maintained), plan.stream)
    generations = [read.inputs[slot.input].generation for slot in read.aggregates]
    marks: list[Marks] = [frozenset({(name, one) if one else 0}) for one in generations]
    return plan_marks(plan, [NONE] * len(read.keys) + marks)


def widened(
    kept: StreamPipeline, plan: Plan, from_now: bool, columns_count: int | None
) -> tuple[StreamPipeline, tuple[str, ...]]:
    """Return a pipeline that goes on with the groups of `kept` and has what `plan` needs besides,
    and what counts from now on only.

    from_now: rows are chosen by the conditions of the plan from now on. columns_count: so many of
    the plan's columns were there before, None: a query stands above, which the caller looks at.

    Raises NotCoveredError for aggregates that can't be added; whether the rest covers the plan is
    not looked at.
    """
    wanted, told, made, grouping = plan.stream, [], kept, make_grouping(kept)
    missing = [named for named in wanted.aggregates if not _is_kept(grouping, replace(wanted, aggregates=(named,)))]
    if missing:
        if columns_count is not None:
            now: Marks = frozenset({"now"})
            marks = [now if named in missing else NONE for named in wanted.aggregates]
            refuse_added(plan_marks(plan, [NONE] * len(wanted.keys) + marks), now, columns_count)
        if any(is_of_distinct_on(call) or call.distinct for _, call in missing):
            raise NotCoveredError("The new query needs more of the first row of each group than is kept.")
        if any(new.kept > old.kept for new, old in zip(wanted.probes, kept.probes, strict=False)):
            raise NotCoveredError("The new query needs more columns of the tables that it joins.")
        calls = (*kept.aggregates, *missing)
        names = unique_names([name for name, _ in (*kept.keys, *calls)])[len(kept.keys) :]
        aggregates = tuple((name, call) for name, (_, call) in zip(names, calls, strict=True))
        made = replace(kept, aggregates=aggregates, added=(*kept.added, len(kept.aggregates)))
        told += [aggregate_text(call) for _, call in missing]
    if from_now and {meaning(part) for part in wanted.filters} != {meaning(part) for part in kept.filters}:
        made = replace(made, filters=wanted.filters)
        told.append("WHERE " + " AND ".join(map(expression_text, wanted.filters)) if wanted.filters else ALL_ROWS)
    return made, tuple(told)


def _is_kept(kept: Grouping, wanted: StreamPipeline) -> bool:
    """Tell whether all aggregates of a pipeline are read from what is kept."""
    try:
        covered_grouping(kept, replace(wanted, keys=()))
    except NotCoveredError:
        return False
    return True


def _first_slot(kept: Grouping, call: AggregateCall) -> AggregateSlot:
    """Return where a value of the first row of each group is read. Raises NotCoveredError."""
    for slot in kept.aggregates:
        if _call(slot.call) == _call(call):
            return replace(slot, call=call)
    raise NotCoveredError("The new query needs another first row of each group, or more of it, than is kept.")


def _key_conditions(kept: StreamPipeline, wanted: StreamPipeline) -> list[Expression]:
    """Return the conditions that only `wanted` has, as conditions on its groups.

    Raises NotCoveredError.
    """
    ours, theirs = _conditions(kept), _conditions(wanted)
    old, new = {meaning(part) for part in ours}, {meaning(part) for part in theirs}
    for part in ours:
        if meaning(part) not in new:
            raise NotCoveredError(f"The view has left out all rows without {expression_text(part)}.", True)
    return [_over_keys(part, wanted.keys) for part in theirs if meaning(part) not in old]


def _over_keys(condition: Expression, keys: Keys) -> Expression:
    """Return a condition on the rows of the stream as a condition on groups.

    Raises NotCoveredError.
    """
    over = over_keys(condition, keys)
    if over is None or not columns_of(over) or not cannot_fail(over):
        raise NotCoveredError(
            f"The new query has the condition {expression_text(condition)}, which is not on keys alone.", True
        )
    return over


def over_keys(expression: Expression, keys: Keys) -> Expression | None:
    """Return an expression on the rows of the stream as one on their groups, or None.

    `Column(i)` of the result is the key i. None: the value does not follow from the keys.
    """
    places = {meaning(key): place for place, (_, key) in enumerate(keys)}
    # Behind all columns of the rows, so that what is no key is seen.
    start = max(columns_of(expression), default=-1) + 1

    def key(part: Expression) -> Expression | None:
        place = places.get(meaning(part))
        return None if place is None else Column(start + place, keys[place][0], part.type)

    over = rewrite(expression, key)
    if any(index < start for index in columns_of(over)):
        return None
    return rewrite(over, lambda part: replace(part, index=part.index - start) if isinstance(part, Column) else None)


def _conditions(pipeline: StreamPipeline) -> list[Expression]:
    return [*pipeline.filters, *(part for probe in pipeline.probes for part in probe.filters)]


def _calls(pipeline: StreamPipeline) -> list[object]:
    return [_call(call) for _, call in pipeline.aggregates]


def _call(call: AggregateCall) -> object:
    order = [(meaning(key.expression), key.descending, key.nulls_first) for key in call.order_by]
    return call.function, [meaning(part) for part in call.arguments], _meaning(call.filter), order


def _types(pipeline: StreamPipeline) -> list[SqlType]:
    return [column.type for column in pipeline.input]


def _joined(probe: Probe) -> Probe:
    keys = tuple((meaning(key), place) for key, place in probe.keys)
    return replace(probe, kept=0, keys=keys, guards=tuple(meaning(guard) for guard in probe.guards), filters=())


def _meaning(expression: Expression | None) -> Expression | None:
    return None if expression is None else meaning(expression)
