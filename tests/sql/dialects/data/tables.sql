create table customers (id int, name text, email text, country text, tier text, signup date, phone text);
insert into customers values
 (1, 'Ada Lovelace', 'ada@example.com', 'GB', 'gold', '2023-12-31', '+44 20'),
 (2, 'bob', 'Bob@Example.com', 'US', 'silver', '2024-01-01', null),
 (3, '', null, 'US', null, '2024-02-29', ''),
 (4, 'Zoë  ', 'zoe@example.org', null, 'gold', null, '030-12'),
 (5, null, 'no-at-sign', 'DE', 'bronze', '2024-01-07', '  17 '),
 (6, 'Bob', 'a@b@c', 'DE', 'silver', '2024-01-08', '5');
create table orders (
    id int, customer_id int, status text, amount numeric(12,2), quantity int, discount numeric(5,2),
    ordered date, created timestamp, shipped timestamp, region text, weight double precision
);
insert into orders values
 (1, 1, 'paid', 100.00, 3, 0.10, '2024-01-31', '2024-01-31 23:59:59', '2024-02-02 00:00:00', 'north', 1.5),
 (2, 1, 'paid', 250.50, 7, null, '2024-02-29', '2024-02-29 12:30:15.5', null, 'north', 2.25),
 (3, 2, 'open', -20.25, 2, 0.00, '2024-02-29', '2024-02-29 12:30:15.5', '2024-02-29 12:30:16', 'south', null),
 (4, 2, 'void', 0.00, 0, 1.00, '2024-03-01', '2024-03-01 00:00:00', '2024-03-31 01:00:00', null, 0.0),
 (5, 3, 'paid', 33.33, 5, 0.05, '2024-03-31', '2024-03-31 08:15:00', '2024-04-01 08:14:59', 'south', 3.75),
 (6, 3, null, 66.67, 5, 0.25, '2023-12-31', '2023-12-31 23:30:00', '2024-01-01 00:30:00', 'west', -1.25),
 (7, null, 'open', null, 1, null, null, null, null, 'west', 10.0),
 (8, 4, 'paid ', 12.345, -4, 0.50, '2024-01-07', '2024-01-07 00:00:00', '2024-01-14 00:00:00', '', 2.5),
 (9, 4, 'PAID', 99.995, 4, 0.15, '2024-01-08', '2024-01-08 01:02:03', '2024-01-15 01:02:02', 'east', 0.125),
 (10, 9, 'open', 500, 11, 0.20, '2024-12-30', '2024-12-30 10:00:00', '2025-01-02 09:00:00', 'east', 7.5);
create table events (id int, user_id int, kind text, ts timestamp, url text, ms int, value double precision, flag boolean);
insert into events values
 (1, 1, 'view', '2024-01-01 00:00:00', 'https://a.example/x/y?q=1', 120, 1.5, true),
 (2, 1, 'click', '2024-01-01 00:04:59', 'https://a.example/x', 80, 2.5, false),
 (3, 2, 'view', '2024-01-01 00:05:00', '/only/path', null, -2.5, null),
 (4, 2, 'buy', '2024-01-07 23:59:59', 'https://b.example/', 950, 0.5, true),
 (5, 3, 'view', '2024-01-08 00:00:00', null, 0, null, false),
 (6, 3, 'click', '2024-01-31 12:00:00', '', -5, 3.5, true),
 (7, null, 'view', '2024-02-29 23:00:00', 'https://a.example/x/y', 300, 100.25, null),
 (8, 1, 'buy', '2024-02-29 23:59:59', 'ftp://c', 300, -0.5, true),
 (9, 2, null, null, 'https://b.example/z', 15, 7.0, false);
create table employees (id int, dept text, name text, salary int, manager_id int, hired date, bonus numeric(10,2));
insert into employees values
 (1, 'eng', 'Ann', 5000, null, '2019-02-28', 100.50),
 (2, 'eng', 'Bo', 4000, 1, '2020-02-29', null),
 (3, 'eng', 'Cy', 4000, 1, '2021-12-31', 0),
 (4, 'ops', 'Di', 3001, 1, '2024-01-01', 250.25),
 (5, 'ops', 'Ed', null, 4, null, -10),
 (6, null, 'Flo', 2500, 9, '2022-07-03', 33.335);
create table docs (id int, body jsonb, raw text);
insert into docs values
 (1, '{"a": {"b": [10, 2.5]}, "name": "Ann", "ok": true, "day": "2024-02-29", "gone": null}', '{"a": {"b": 1}, "name": "x y"}'),
 (2, '{"a": {"b": []}, "name": "", "ok": false, "Name": "other"}', '{"a": "text", "name": null}'),
 (3, '[1, {"b": 2}]', '{}'),
 (4, null, null);
