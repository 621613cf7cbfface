"""A coroutine that is started without a task."""

from __future__ import annotations

import asyncio

import pytest

from engine.server.first_step import first_step


def test_a_coroutine_that_never_suspends_is_done() -> None:
    done = []

    async def work() -> None:
        done.append(1)

    assert first_step(work()) is None
    assert done == [1]


def test_the_rest_goes_on_where_it_suspended() -> None:
    async def main() -> list[object]:
        seen: list[object] = []
        loop = asyncio.get_running_loop()
        future: asyncio.Future[str] = loop.create_future()

        async def work() -> None:
            seen.append("started")
            seen.append(await future)
            await asyncio.sleep(0)
            seen.append(await loop.run_in_executor(None, lambda: "worker"))

        rest = first_step(work())
        assert rest is not None
        assert seen == ["started"]
        loop.call_soon(future.set_result, "set")
        await rest
        return seen

    assert asyncio.run(main()) == ["started", "set", "worker"]


def test_exceptions_pass_in_both_steps() -> None:
    async def at_once() -> None:
        raise ValueError("first")

    async def later() -> None:
        await asyncio.sleep(0)
        raise ValueError("second")

    async def main() -> None:
        rest = first_step(later())
        assert rest is not None
        await rest

    with pytest.raises(ValueError, match="first"):
        first_step(at_once())
    with pytest.raises(ValueError, match="second"):
        asyncio.run(main())


def test_cancellation_reaches_the_coroutine() -> None:
    async def main() -> list[str]:
        seen: list[str] = []
        started = asyncio.Event()

        async def work() -> None:
            try:
                await asyncio.Event().wait()
            except asyncio.CancelledError:
                seen.append("cancelled")
                raise

        async def run_rest() -> None:
            rest = first_step(work())
            assert rest is not None
            started.set()
            await rest

        task = asyncio.create_task(run_rest())
        await started.wait()
        await asyncio.sleep(0)
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task
        return seen

    assert asyncio.run(main()) == ["cancelled"]


def test_other_awaitables_are_left_alone() -> None:
    async def main() -> None:
        future: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        assert first_step(future) is future

    asyncio.run(main())
