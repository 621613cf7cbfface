"""Nexmark's events: persons, auctions and bids of an auction house, as its generator draws them.

Of 50 events 1 is a person, 3 are auctions and 46 are bids; every second bid goes to a hot auction,
three of four come from a hot bidder, and three of four auctions have a hot seller (Tucker et al.,
NEXMark: a benchmark for queries over data streams; the proportions and the distribution of prices
are those of Apache Beam's generator). Leaves: rows in the order of their times. Seeded: the same
seed makes the same rows.
"""

from __future__ import annotations

from collections.abc import Iterator
from datetime import datetime, timedelta
from random import Random

SCHEMAS = {
    "person": "id bigint, name text, email_address text, credit_card text, city text, state text, date_time timestamp, extra text",
    "auction": "id bigint, item_name text, description text, initial_bid bigint, reserve bigint, date_time timestamp, "
    "expires timestamp, seller bigint, category bigint, extra text",
    "bid": "auction bigint, bidder bigint, price bigint, channel text, url text, date_time timestamp, extra text",
}
FIRST_ID = 1000
PERSONS, AUCTIONS, OF_EVENTS = 1, 3, 50
# So many of the newest auctions and persons are asked for, but for hot ones.
IN_FLIGHT, ACTIVE = 100, 1000
HOT_AUCTION, HOT_BIDDER, HOT_SELLER = 100, 100, 100
CATEGORIES = range(10, 15)
CHANNELS = ("Google", "Facebook", "Baidu", "Apple")
CITIES = (
    "Phoenix",
    "Los Angeles",
    "San Francisco",
    "Boise",
    "Portland",
    "Bend",
    "Redmond",
    "Seattle",
    "Kent",
    "Cheyenne",
)
STATES = ("AZ", "CA", "ID", "OR", "WA", "WY")
NAMES = ("Peter", "Paul", "Luke", "John", "Saul", "Vicky", "Kate", "Julie", "Sarah", "Deiter", "Walter")
# Before midnight, so that there are two days.
START = datetime.fromisoformat("2026-01-31T23:59:00")
STEP = timedelta(milliseconds=40)

Row = tuple[object, ...]


def events(count: int, seed: int = 1) -> Iterator[tuple[str, Row]]:
    """Yield the stream and the row of each of `count` events."""
    choose = Random(seed)
    for number in range(count):
        epoch, place = divmod(number, OF_EVENTS)
        # Of so many persons and auctions the last one is known.
        persons = epoch + 1
        auctions = max(epoch * AUCTIONS + min(max(place - PERSONS, 0), AUCTIONS), 1)
        time = START + number * STEP
        if place < PERSONS:
            yield "person", person(choose, FIRST_ID + epoch, time)
        elif place < PERSONS + AUCTIONS:
            identity = FIRST_ID + epoch * AUCTIONS + place - PERSONS
            yield "auction", auction(choose, identity, persons, time)
        else:
            yield "bid", bid(choose, auctions, persons, time)


def person(choose: Random, identity: int, time: datetime) -> Row:
    """Return a row of person."""
    name = f"{choose.choice(NAMES)} {choose.choice(NAMES)}son"
    card = " ".join(f"{choose.randrange(10_000):04}" for _ in range(4))
    email = f"{name.replace(' ', '.').lower()}@example.com"
    return identity, name, email, card, choose.choice(CITIES), choose.choice(STATES), time, extra(choose)


def auction(choose: Random, identity: int, persons: int, time: datetime) -> Row:
    """Return a row of auction."""
    first = price(choose)
    ends = time + choose.randint(10, 400) * STEP
    seller = one_of(choose, persons, ACTIVE, HOT_SELLER, 0.75)
    words = (f"item {choose.randrange(1000)}", extra(choose), first, first + price(choose))
    return (identity, *words, time, ends, seller, choose.choice(CATEGORIES), extra(choose))


def bid(choose: Random, auctions: int, persons: int, time: datetime) -> Row:
    """Return a row of bid."""
    channel = choose.choice(CHANNELS) if choose.random() < 0.5 else f"channel-{choose.randrange(20)}"
    url = f"https://www.example.com/{extra(choose)}/item.htm?query=1&channel_id={choose.randrange(1 << 20)}"
    bidder = one_of(choose, persons, ACTIVE, HOT_BIDDER, 0.75)
    return (
        one_of(choose, auctions, IN_FLIGHT, HOT_AUCTION, 0.5),
        bidder,
        price(choose),
        channel,
        url,
        time,
        extra(choose),
    )


def one_of(choose: Random, count: int, newest: int, hot: int, share: float) -> int:
    """Return an id of the first `count`: a share has the last one of which `hot` is a factor, the
    others one of the newest.
    """
    last = count - 1
    if choose.random() < share:
        return FIRST_ID + last // hot * hot
    return FIRST_ID + choose.randint(max(0, last - newest), last)


def price(choose: Random) -> int:
    """Return a price in cents: its logarithm is uniform."""
    return round(10 ** (choose.random() * 6) * 100)


def extra(choose: Random) -> str:
    """Return letters that only take room, sometimes none."""
    return "".join(choose.choices("abcdefgh", k=choose.choice((0, 3, 10, 30))))
