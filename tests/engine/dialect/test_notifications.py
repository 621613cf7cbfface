"""Channels: what is kept of sessions that listened."""

from __future__ import annotations

from engine.dialect.notifications import channels_of_server
from tests.engine.session_client import SessionClient, World


async def close(client: SessionClient) -> None:
    client.session.close()


def test_nothing_is_kept_of_sessions_that_do_not_listen_any_more(world: World) -> None:
    one, other = world.client(), world.client()
    one.run("LISTEN a", "LISTEN b", "BEGIN", "UNLISTEN b", "LISTEN c")
    other.run("LISTEN b", "LISTEN d", "LISTEN d", "UNLISTEN d", "UNLISTEN e")
    channels = world.database.shared.server.part(channels_of_server)
    assert [name for name in "abcde" if channels.has(name)] == ["a", "b"]
    world.runner.run(close(one))
    assert [name for name in "abcde" if channels.has(name)] == ["b"]
    other.run("DISCARD ALL")
    assert not channels.has("b")
    world.runner.run(close(other))
