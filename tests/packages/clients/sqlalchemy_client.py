"""SQLAlchemy over one of its drivers: its types, statements as it writes them, reflection, and a
stream with a view. The arguments are the port and the driver.
"""

from __future__ import annotations

import asyncio
import datetime
import decimal
import sys
import uuid
from typing import Any

from sqlalchemy import (
    BigInteger,
    Boolean,
    CheckConstraint,
    Column,
    Connection,
    Date,
    DateTime,
    Enum,
    Float,
    ForeignKey,
    Identity,
    Index,
    Integer,
    Interval,
    LargeBinary,
    MetaData,
    Numeric,
    String,
    Table,
    Text,
    Time,
    create_engine,
    extract,
    func,
    insert,
    inspect,
    select,
    text,
    values,
)
from sqlalchemy.dialects import postgresql
from sqlalchemy.ext.asyncio import create_async_engine
from sqlalchemy.orm import DeclarativeBase, Session, relationship, selectinload
from sqlalchemy.sql import column

URL = f"://antumbra:none@127.0.0.1:{sys.argv[1]}/antumbra"
HOUR = datetime.timedelta(hours=1)


class Base(DeclarativeBase):
    """The models."""


class City(Base):
    """A row with a column of many types."""

    __tablename__ = "city"
    id = Column(Integer, primary_key=True)
    name = Column(String(40), nullable=False, unique=True, comment="of the city")
    at = Column(DateTime(timezone=True), server_default=func.now())
    price = Column(Numeric(10, 2), index=True)
    data = Column(postgresql.JSONB)
    tags = Column(postgresql.ARRAY(Text))
    number = Column(postgresql.UUID(as_uuid=True), default=uuid.uuid4)
    kind = Column(Enum("a", "b", name="kind"))
    long = Column(Interval)
    raw = Column(LargeBinary)
    open = Column(Boolean, server_default=text("true"))
    width = Column(Float)
    day = Column(Date)
    time = Column(Time)
    visits = relationship("Visit", back_populates="city")
    __table_args__ = (
        CheckConstraint("price >= 0", name="price_positive"),
        Index("by_lower", text("lower(name)")),
        {"comment": "Cities"},
    )


class Visit(Base):
    """A row that refers to a city."""

    __tablename__ = "visit"
    id = Column(BigInteger, Identity(start=10), primary_key=True)
    city_id = Column(ForeignKey("city.id", ondelete="CASCADE"))
    n = Column(Integer)
    city = relationship("City", back_populates="visits")


def fill(session: Session) -> None:
    """Insert rows of both models."""
    for i in range(5):
        kept: dict[str, Any] = {
            "price": decimal.Decimal("1.5") * i,
            "data": {"a": i},
            "tags": ["x", str(i)],
            "kind": "ab"[i % 2],
            "long": i * HOUR,
            "raw": b"\0x",
            "width": 1.5 * i,
            "day": datetime.date(2020, 1, 1 + i),
            "time": datetime.time(1, 2, i),
        }
        session.add(City(name=f"c{i}", visits=[Visit(n=j) for j in range(i)], **kept))
    session.flush()


def query(session: Session) -> None:
    """Ask with constants as parameters, as SQLAlchemy writes all of them."""
    city = session.scalars(select(City).options(selectinload(City.visits)).where(City.name == "c3")).one()
    assert (city.price, city.data, city.tags, city.long) == (decimal.Decimal("4.50"), {"a": 3}, ["x", "3"], 3 * HOUR)
    assert (city.kind, city.raw, city.width, city.time) == ("b", b"\0x", 4.5, datetime.time(1, 2, 3))
    assert city.open and len(city.visits) == 3 and city.at.tzinfo is not None
    month = func.date_trunc("month", City.at).label("month")
    assert [n for _, n in session.execute(select(month, func.count()).group_by("month"))] == [5]
    moved = select(extract("year", City.day), City.at + HOUR, City.price * 2, func.timezone("Europe/Berlin", City.at))
    assert session.execute(moved.order_by(City.id).limit(1).offset(1)).one()[2] == decimal.Decimal("3.00")
    number = City.data["a"].as_integer()
    assert session.execute(select(number).where(City.data.contains({"a": 2}))).scalars().all() == [2]
    assert session.execute(select(City.tags[2]).where(City.tags.contains(["2"]))).scalars().all() == ["2"]
    liked = select(City.id).where(City.name.in_(["c1", "c2"]), City.name.like("c%", escape="/"))
    assert len(session.execute(liked).all()) == 2
    framed = func.sum(City.price).over(order_by=City.id, rows=(-1, 1))
    assert session.execute(select(framed).order_by(City.id)).scalars().first() == decimal.Decimal("1.50")
    assert session.execute(select(framed, func.count().over(order_by=City.id, groups=(-1, 0)))).all()
    upsert = (
        postgresql.insert(City)
        .values(name="c1", price=9)
        .on_conflict_do_update(index_elements=["name"], set_={"price": 9})
    )
    assert len(session.execute(upsert.returning(City.id)).all()) == 1
    many = session.execute(insert(City).returning(City.id), [{"name": f"n{i}"} for i in range(3)])
    assert len(many.all()) == 3
    counts = select(Visit.city_id, func.count().label("n")).group_by(Visit.city_id).cte("counts")
    assert len(session.execute(select(counts)).all()) == 4
    assert len(session.execute(select(City).with_for_update(skip_locked=True).limit(2)).all()) == 2
    median = func.percentile_cont(0.5).within_group(City.price)
    assert session.execute(select(median)).scalar() is not None
    rows = values(column("a", Integer), column("b", String), name="rows").data([(1, "x"), (2, "y")])
    assert session.execute(select(rows)).all() == [(1, "x"), (2, "y")]


def reflect(connection: Connection) -> None:
    """Read the definitions back."""
    found = inspect(connection)
    assert set(found.get_table_names()) >= {"city", "visit"}
    kinds = {one["name"]: str(one["type"]) for one in found.get_columns("city")}
    assert kinds["name"] == "VARCHAR(40)" and kinds["price"] == "NUMERIC(10, 2)", kinds
    assert found.get_columns("visit")[0]["identity"]["start"] == 10
    assert found.get_pk_constraint("city")["constrained_columns"] == ["id"]
    assert found.get_foreign_keys("visit")[0]["options"] == {"ondelete": "CASCADE"}
    assert {one["name"] for one in found.get_indexes("city")} >= {"by_lower", "ix_city_price"}
    assert found.get_unique_constraints("city")[0]["column_names"] == ["name"]
    assert found.get_check_constraints("city")[0]["name"] == "price_positive"
    assert found.get_table_comment("city") == {"text": "Cities"}
    assert found.get_enums()[0]["labels"] == ["a", "b"]
    tables = MetaData()
    tables.reflect(connection, views=True)
    assert {"city", "visit"} <= tables.tables.keys()


def use_stream(connection: Connection) -> None:
    """Insert into a stream, and read its view."""
    connection.exec_driver_sql("CREATE FOREIGN TABLE trips (city int, fare numeric(10,2)) SERVER stream")
    connection.exec_driver_sql(
        "CREATE VIEW fares AS SELECT city, count(*) AS n, sum(fare) AS total FROM trips GROUP BY city"
    )
    connection.commit()
    tables = MetaData()
    trips, fares = (Table(name, tables, autoload_with=connection) for name in ("trips", "fares"))
    connection.execute(insert(trips), [{"city": 1, "fare": 2}, {"city": 1, "fare": 3}])
    told = connection.execute(insert(trips).returning(trips.c.fare), [{"city": 2, "fare": 2}, {"city": 2, "fare": 4}])
    assert sorted(told.scalars()) == [2, 4]
    connection.execute(postgresql.insert(trips).values(city=3, fare=1).on_conflict_do_nothing())
    connection.commit()
    assert connection.execute(select(fares).order_by(fares.c.city)).all() == [(1, 2, 5), (2, 2, 6), (3, 1, 1)]
    connection.commit()
    connection.exec_driver_sql("DROP FOREIGN TABLE trips CASCADE")
    connection.commit()


def everything(connection: Connection) -> None:
    """Do all of it."""
    Base.metadata.create_all(connection)
    with Session(connection, join_transaction_mode="create_savepoint") as session:
        fill(session)
        query(session)
        session.commit()
    connection.commit()
    reflect(connection)
    connection.commit()
    use_stream(connection)
    Base.metadata.drop_all(connection)
    connection.commit()


async def over_asyncpg() -> None:
    """Do it over asyncpg."""
    engine = create_async_engine(f"postgresql+asyncpg{URL}")
    async with engine.connect() as connection:
        await connection.run_sync(everything)
    await engine.dispose()


if sys.argv[2] == "asyncpg":
    asyncio.run(over_asyncpg())
else:
    with create_engine(f"postgresql+{sys.argv[2]}{URL}").connect() as only:
        everything(only)
