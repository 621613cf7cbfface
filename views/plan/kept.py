"""interim"""

from __future__ import annotations

from views.plan.nodes import StreamPipeline, ViewPlan
from views.plan.text import aggregate_text, expression_text


def kept_columns(stream: StreamPipeline) -> list[tuple[str, str]]:
    keys = [(expression_text(key), key.type.sql_name) for _, key in stream.keys]
    return keys + [(aggregate_text(call), "state") for _, call in stream.aggregates]


def group_bytes(stream: StreamPipeline) -> int:
    return 0


def kernel_name(name: str, plan: ViewPlan) -> str:
    return name
