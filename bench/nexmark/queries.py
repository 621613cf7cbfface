"""Nexmark's queries as continuous views, and the same in PostgreSQL: those that group, those of
rows, and the first rows of a join.

The texts are those of github.com/nexmark/nexmark in PostgreSQL's words: to_char for DATE_FORMAT,
`date_time` for dateTime. What PostgreSQL lacks are windows, which have a text for each. q12 has the
time of the event in place of that of its processing, so that there is something to compare.
"""

from __future__ import annotations

HOPS = {
    "ours": "HOP(TABLE bid, DESCRIPTOR(date_time), INTERVAL '2 s', INTERVAL '10 s')",
    "theirs": "bid, LATERAL (SELECT t AS window_start, t + interval '10 s' AS window_end FROM generate_series("
    "date_bin('2 s', date_time, '1970-01-01') - interval '8 s', date_bin('2 s', date_time, '1970-01-01'), interval '2 s') t) w",
}
TUMBLES = {
    "ours": "TUMBLE(TABLE {0}, DESCRIPTOR(date_time), INTERVAL '10 s')",
    "theirs": "{0}, LATERAL (SELECT date_bin('10 s', date_time, '1970-01-01') AS window_start, "
    "date_bin('10 s', date_time, '1970-01-01') + interval '10 s' AS window_end) w",
}
COUNTS = """
    count(*) AS total_bids,
    count(*) FILTER (WHERE price < 10000) AS rank1_bids,
    count(*) FILTER (WHERE price >= 10000 AND price < 1000000) AS rank2_bids,
    count(*) FILTER (WHERE price >= 1000000) AS rank3_bids"""
DISTINCTS = ",".join(
    f"""
    count(DISTINCT {column}) AS total_{column}s,
    count(DISTINCT {column}) FILTER (WHERE price < 10000) AS rank1_{column}s,
    count(DISTINCT {column}) FILTER (WHERE price >= 10000 AND price < 1000000) AS rank2_{column}s,
    count(DISTINCT {column}) FILTER (WHERE price >= 1000000) AS rank3_{column}s"""
    for column in ("bidder", "auction")
)
BIDS = (
    "SELECT auction, count(*) AS num, window_start AS starttime, window_end AS endtime "
    "FROM {hops} GROUP BY auction, window_start, window_end"
)
GROUPED = {
    # Average price of each category
    "q4": """
SELECT q.category, avg(q.final) AS average FROM (
    SELECT max(b.price) AS final, a.category FROM auction a, bid b
    WHERE a.id = b.auction AND b.date_time BETWEEN a.date_time AND a.expires
    GROUP BY a.id, a.category
) q GROUP BY q.category""",
    # Hot items
    "q5": f"""
SELECT a.auction, a.num, a.starttime FROM ({BIDS}) a JOIN (
    SELECT max(c.num) AS maxn, c.starttime, c.endtime FROM ({BIDS}) c GROUP BY c.starttime, c.endtime
) m ON a.starttime = m.starttime AND a.endtime = m.endtime AND a.num >= m.maxn""",
    # Monitor new users
    "q8": """
SELECT p.id, p.name, p.starttime FROM (
    SELECT id, name, window_start AS starttime, window_end AS endtime FROM {persons} GROUP BY id, name, window_start, window_end
) p JOIN (
    SELECT seller, window_start AS starttime, window_end AS endtime FROM {auctions} GROUP BY seller, window_start, window_end
) a ON p.id = a.seller AND p.starttime = a.starttime AND p.endtime = a.endtime""",
    # Processing time windows
    "q12": "SELECT bidder, count(*) AS bid_count, window_start, window_end FROM {bids} GROUP BY bidder, window_start, window_end",
    # Bidding statistics
    "q15": f"SELECT to_char(date_time, 'YYYY-MM-DD') AS day, {COUNTS}, {DISTINCTS} FROM bid GROUP BY to_char(date_time, 'YYYY-MM-DD')",
    # Channel statistics
    "q16": f"""
SELECT channel, to_char(date_time, 'YYYY-MM-DD') AS day, max(to_char(date_time, 'HH24:MI')) AS minute, {COUNTS}, {DISTINCTS}
FROM bid GROUP BY channel, to_char(date_time, 'YYYY-MM-DD')""",
    # Auction statistics
    "q17": f"""
SELECT auction, to_char(date_time, 'YYYY-MM-DD') AS day, {COUNTS},
    min(price) AS min_price, max(price) AS max_price, avg(price) AS avg_price, sum(price) AS sum_price
FROM bid GROUP BY auction, to_char(date_time, 'YYYY-MM-DD')""",
    # Last bid
    "q18": """
SELECT auction, bidder, price, channel, url, date_time, extra FROM (
    SELECT *, row_number() OVER (PARTITION BY bidder, auction ORDER BY date_time DESC) AS rank_number FROM bid
) b WHERE rank_number <= 1""",
    # Ten highest bids of each auction
    "q19": """
SELECT * FROM (
    SELECT *, row_number() OVER (PARTITION BY auction ORDER BY price DESC) AS rank_number FROM bid
) b WHERE rank_number <= 10""",
}
WON = "FROM auction a, bid b WHERE a.id = b.auction AND b.date_time BETWEEN a.date_time AND a.expires"
ROW_BY_ROW = {
    "q0": "SELECT auction, bidder, price, date_time, extra FROM bid",
    "q1": "SELECT auction, bidder, 0.908 * price AS price, date_time, extra FROM bid",
    "q2": "SELECT auction, price FROM bid WHERE auction % 123 = 0",
    "q3": """
SELECT p.name, p.city, p.state, a.id FROM auction a JOIN person p ON a.seller = p.id
WHERE a.category = 10 AND (p.state = 'OR' OR p.state = 'ID' OR p.state = 'CA')""",
    "q7": """
SELECT b.auction, b.price, b.bidder, b.date_time, b.extra FROM bid b JOIN (
    SELECT max(price) AS maxprice, window_end AS date_time FROM {bids} GROUP BY window_start, window_end
) m ON b.price = m.maxprice WHERE b.date_time BETWEEN m.date_time - interval '10 s' AND m.date_time""",
    "q14": """
SELECT auction, bidder, 0.908 * price AS price, extract(hour FROM date_time) AS hour, date_time, extra FROM bid
WHERE 0.908 * price > 1000000 AND 0.908 * price < 50000000""",
    "q20": """
SELECT b.auction, b.bidder, b.price, a.item_name, a.seller, a.category FROM bid b JOIN auction a ON b.auction = a.id
WHERE a.category = 10""",
    "q21": "SELECT auction, bidder, price, channel, substring(url FROM 'channel_id=([^&]*)') AS channel_id FROM bid",
    "q22": "SELECT auction, bidder, price, channel, split_part(url, '/', 4) AS dir1, split_part(url, '/', 5) AS dir2 FROM bid",
}
FIRST_OF_JOIN = {
    "q6": f"""
SELECT q.seller, avg(q.final) OVER (PARTITION BY q.seller ORDER BY q.date_time ROWS BETWEEN 10 PRECEDING AND CURRENT ROW) AS average
FROM (
    SELECT row_number() OVER (PARTITION BY a.id, a.seller ORDER BY b.price DESC) AS rownum, a.seller, b.price AS final, b.date_time
    {WON}
) q WHERE rownum <= 1""",
    "q9": f"""
SELECT id, item_name, seller, category, auction, bidder, price FROM (
    SELECT a.*, b.auction, b.bidder, b.price, row_number() OVER (PARTITION BY a.id ORDER BY b.price DESC, b.date_time) AS rownum
    {WON}
) q WHERE rownum <= 1""",
}


def text(query: str, side: str) -> str:
    """Return the text of a query for a side, 'ours' or 'theirs'."""
    tumbles = TUMBLES[side]
    names = {name: tumbles.format(name[:-1]) for name in ("bids", "persons", "auctions")}
    return query.format(hops=HOPS[side], **names)
