-- One run in one file. The first half holds what happened, the second shows it in words.
--
-- journal   what was asked of the company, with the digest of the whole state after it
-- events    what came of it          ledger  what it cost or brought, in whole cents
-- calls     who rang and for what    head    how far the run is
-- run       what the run is of       names   what the numbers of the other tables mean
--
-- Row 0 of the journal begins the run and repeats what `run` says of it. Every later row is one
-- command and one transaction. Nothing but `head` is ever changed, nothing is ever deleted, and a
-- row can only be added behind the last one: the triggers see to it, whoever holds the file.
-- The file's application_id and user_version are set by schema.py.

CREATE TABLE run (
    id              INTEGER PRIMARY KEY CHECK (id = 1),
    seed            TEXT    NOT NULL CHECK (seed <> '' AND seed NOT GLOB '*[^0-9]*'),
    salt            TEXT    NOT NULL CHECK (salt <> '' AND salt NOT GLOB '*[^0-9]*'),
    days            INTEGER NOT NULL CHECK (days BETWEEN 1 AND 31),
    start_date      TEXT    NOT NULL CHECK (start_date GLOB '[0-9][0-9][0-9][0-9]-[0-9][0-9]-[0-9][0-9]'),
    starting_cash   INTEGER NOT NULL CHECK (starting_cash >= 0),
    rules           INTEGER NOT NULL CHECK (rules >= 1),
    layout          TEXT    NOT NULL CHECK (length(layout) = 64),
    map             TEXT    NOT NULL,
    map_digest      TEXT    NOT NULL CHECK (length(map_digest) = 64),
    scenario        TEXT    NOT NULL,
    scenario_digest TEXT    NOT NULL CHECK (length(scenario_digest) = 64),
    scenario_text   TEXT    NOT NULL
) STRICT;

CREATE TABLE names (
    kind TEXT    NOT NULL,
    code INTEGER NOT NULL,
    name TEXT    NOT NULL,
    PRIMARY KEY (kind, code)
) STRICT, WITHOUT ROWID;

CREATE TABLE journal (
    number    INTEGER PRIMARY KEY CHECK (number >= 0),
    command   INTEGER NOT NULL CHECK (command BETWEEN 0 AND 6 AND (command = 0) = (number = 0)),
    arguments TEXT    NOT NULL CHECK (arguments GLOB '{*}'),
    outcome   INTEGER,
    at        INTEGER NOT NULL CHECK (at >= 0),
    digest    TEXT    NOT NULL CHECK (length(digest) = 64 AND digest NOT GLOB '*[^0-9a-f]*')
) STRICT;

CREATE TABLE events (
    number     INTEGER PRIMARY KEY CHECK (number >= 1),
    journal    INTEGER NOT NULL REFERENCES journal (number),
    at         INTEGER NOT NULL CHECK (at >= 0),
    kind       INTEGER NOT NULL CHECK (kind BETWEEN 1 AND 18),
    call       INTEGER CHECK (call >= 1),
    technician INTEGER CHECK (technician >= 0),
    day        INTEGER CHECK (day >= 0),
    window     INTEGER CHECK (window >= 0)
) STRICT;

CREATE TABLE ledger (
    number INTEGER PRIMARY KEY CHECK (number >= 1),
    event  INTEGER NOT NULL REFERENCES events (number),
    entry  INTEGER NOT NULL CHECK (entry BETWEEN 0 AND 7),
    cents  INTEGER NOT NULL,
    -- Invoice and premium bring money, everything else costs it.
    CHECK (CASE WHEN entry <= 1 THEN cents >= 0 ELSE cents <= 0 END)
) STRICT;

CREATE TABLE calls (
    number   INTEGER PRIMARY KEY CHECK (number >= 1),
    event    INTEGER NOT NULL REFERENCES events (number),
    service  INTEGER NOT NULL CHECK (service >= 0),
    customer INTEGER NOT NULL CHECK (customer >= 0),
    urgent   INTEGER NOT NULL CHECK (urgent IN (0, 1)),
    zone     INTEGER NOT NULL CHECK (zone >= 0),
    address  INTEGER NOT NULL CHECK (address >= 0)
) STRICT;

CREATE TABLE head (
    id      INTEGER PRIMARY KEY CHECK (id = 1),
    journal INTEGER NOT NULL,
    events  INTEGER NOT NULL CHECK (events >= 0),
    ledger  INTEGER NOT NULL CHECK (ledger >= 0),
    calls   INTEGER NOT NULL CHECK (calls >= 0),
    digest  TEXT    NOT NULL CHECK (length(digest) = 64)
) STRICT;

CREATE TRIGGER run_is_said_once BEFORE INSERT ON run WHEN EXISTS (SELECT 1 FROM run)
BEGIN SELECT RAISE(ABORT, 'a file holds one run'); END;
CREATE TRIGGER run_is_never_changed BEFORE UPDATE ON run
BEGIN SELECT RAISE(ABORT, 'what a run is of is never changed'); END;
CREATE TRIGGER run_is_never_deleted BEFORE DELETE ON run
BEGIN SELECT RAISE(ABORT, 'what a run is of is never deleted'); END;

CREATE TRIGGER names_are_given_once BEFORE INSERT ON names
WHEN EXISTS (SELECT 1 FROM names WHERE kind = NEW.kind AND code = NEW.code)
BEGIN SELECT RAISE(ABORT, 'a name is given once'); END;
CREATE TRIGGER names_are_never_changed BEFORE UPDATE ON names
BEGIN SELECT RAISE(ABORT, 'a name is never changed'); END;
CREATE TRIGGER names_are_never_deleted BEFORE DELETE ON names
BEGIN SELECT RAISE(ABORT, 'a name is never deleted'); END;

CREATE TRIGGER journal_grows_at_its_end BEFORE INSERT ON journal
WHEN NEW.number IS NOT (SELECT coalesce(max(number) + 1, 0) FROM journal)
BEGIN SELECT RAISE(ABORT, 'the journal grows by one row at its end'); END;
CREATE TRIGGER journal_is_never_changed BEFORE UPDATE ON journal
BEGIN SELECT RAISE(ABORT, 'the journal is never changed'); END;
CREATE TRIGGER journal_is_never_deleted BEFORE DELETE ON journal
BEGIN SELECT RAISE(ABORT, 'the journal is never deleted'); END;

CREATE TRIGGER events_grow_at_their_end BEFORE INSERT ON events
WHEN NEW.number IS NOT (SELECT coalesce(max(number) + 1, 1) FROM events)
BEGIN SELECT RAISE(ABORT, 'the events grow by one row at their end'); END;
CREATE TRIGGER events_belong_to_the_last_command BEFORE INSERT ON events
WHEN NEW.journal IS NOT (SELECT max(number) FROM journal)
BEGIN SELECT RAISE(ABORT, 'an event belongs to the last command'); END;
CREATE TRIGGER events_are_never_changed BEFORE UPDATE ON events
BEGIN SELECT RAISE(ABORT, 'events are never changed'); END;
CREATE TRIGGER events_are_never_deleted BEFORE DELETE ON events
BEGIN SELECT RAISE(ABORT, 'events are never deleted'); END;

CREATE TRIGGER ledger_grows_at_its_end BEFORE INSERT ON ledger
WHEN NEW.number IS NOT (SELECT coalesce(max(number) + 1, 1) FROM ledger)
BEGIN SELECT RAISE(ABORT, 'the ledger grows by one row at its end'); END;
CREATE TRIGGER ledger_rows_are_payments BEFORE INSERT ON ledger
WHEN (SELECT kind FROM events WHERE number = NEW.event) IS NOT 15
BEGIN SELECT RAISE(ABORT, 'a row of the ledger belongs to an event of the ledger'); END;
CREATE TRIGGER ledger_is_never_changed BEFORE UPDATE ON ledger
BEGIN SELECT RAISE(ABORT, 'the ledger is never changed'); END;
CREATE TRIGGER ledger_is_never_deleted BEFORE DELETE ON ledger
BEGIN SELECT RAISE(ABORT, 'the ledger is never deleted'); END;

CREATE TRIGGER calls_grow_at_their_end BEFORE INSERT ON calls
WHEN NEW.number IS NOT (SELECT coalesce(max(number) + 1, 1) FROM calls)
BEGIN SELECT RAISE(ABORT, 'the calls grow by one row at their end'); END;
CREATE TRIGGER calls_are_never_changed BEFORE UPDATE ON calls
BEGIN SELECT RAISE(ABORT, 'a call is never changed'); END;
CREATE TRIGGER calls_are_never_deleted BEFORE DELETE ON calls
BEGIN SELECT RAISE(ABORT, 'a call is never deleted'); END;

CREATE TRIGGER head_is_said_once BEFORE INSERT ON head WHEN EXISTS (SELECT 1 FROM head)
BEGIN SELECT RAISE(ABORT, 'a file has one head'); END;
CREATE TRIGGER head_moves_one_command BEFORE UPDATE ON head
WHEN NEW.id IS NOT OLD.id OR NEW.journal IS NOT OLD.journal + 1
BEGIN SELECT RAISE(ABORT, 'the head moves on by one command'); END;
CREATE TRIGGER head_is_never_deleted BEFORE DELETE ON head
BEGIN SELECT RAISE(ABORT, 'the head is never deleted'); END;

-- In words, for people with a browser of SQLite files. Money is in dollars here.

CREATE VIEW commands AS
SELECT journal.number,
       datetime(run.start_date, journal.at || ' seconds') AS time,
       replace(names.name, '_', ' ')                      AS command,
       arguments,
       CASE command
           WHEN 1 THEN (SELECT replace(name, '_', ' ') FROM names WHERE kind = 'stop' AND code = outcome)
           WHEN 2 THEN CASE outcome WHEN 1 THEN 'accepted' ELSE 'declined' END
       END                                                AS outcome,
       digest
FROM journal JOIN run JOIN names ON names.kind = 'command' AND names.code = command
ORDER BY journal.number;

CREATE VIEW happenings AS
SELECT events.number,
       events.journal                                       AS command,
       datetime(run.start_date, events.at || ' seconds')    AS time,
       replace(what.name, '_', ' ')                         AS event,
       events.call,
       technician.name                                      AS technician,
       date(run.start_date, events.day || ' days')          AS service_day,
       time_window.name                                     AS arrival_window,
       replace(entry.name, '_', ' ')                        AS entry,
       ledger.cents / 100.0                                 AS dollars
FROM events JOIN run
JOIN names AS what ON what.kind = 'kind' AND what.code = events.kind
LEFT JOIN names AS technician ON technician.kind = 'technician' AND technician.code = events.technician
LEFT JOIN names AS time_window ON time_window.kind = 'window' AND time_window.code = events.window
LEFT JOIN ledger ON events.kind = 15 AND ledger.event = events.number
LEFT JOIN names AS entry ON entry.kind = 'entry' AND entry.code = ledger.entry
ORDER BY events.number;

CREATE VIEW statement AS
SELECT ledger.number,
       datetime(run.start_date, events.at || ' seconds')    AS time,
       replace(entry.name, '_', ' ')                        AS entry,
       events.call,
       technician.name                                      AS technician,
       ledger.cents / 100.0                                 AS dollars,
       (run.starting_cash + sum(ledger.cents) OVER (ORDER BY ledger.number)) / 100.0 AS balance
FROM ledger JOIN run
JOIN events ON events.number = ledger.event
JOIN names AS entry ON entry.kind = 'entry' AND entry.code = ledger.entry
LEFT JOIN names AS technician ON technician.kind = 'technician' AND technician.code = events.technician
ORDER BY ledger.number;

CREATE VIEW cash AS
SELECT starting_cash + coalesce((SELECT sum(cents) FROM ledger), 0)           AS cents,
       (starting_cash + coalesce((SELECT sum(cents) FROM ledger), 0)) / 100.0 AS dollars
FROM run;

-- What became of each call: the last of its events that decides something.
CREATE VIEW jobs AS
SELECT calls.number                                         AS call,
       datetime(run.start_date, rang.at || ' seconds')      AS rang,
       service.name                                         AS service,
       customer.name                                        AS customer,
       zone.name                                            AS zone,
       calls.urgent,
       replace(what.name, '_', ' ')                         AS state,
       datetime(run.start_date, latest.at || ' seconds')    AS since,
       technician.name                                      AS technician,
       date(run.start_date, latest.day || ' days')          AS service_day,
       time_window.name                                     AS arrival_window,
       money.cents / 100.0                                  AS dollars
FROM calls JOIN run
JOIN events AS rang ON rang.number = calls.event
JOIN (SELECT call, max(number) AS number FROM events WHERE kind NOT IN (8, 15) GROUP BY call)
     AS last ON last.call = calls.number
JOIN events AS latest ON latest.number = last.number
JOIN names AS what ON what.kind = 'kind' AND what.code = latest.kind
LEFT JOIN (SELECT events.call, sum(ledger.cents) AS cents
           FROM ledger JOIN events ON events.number = ledger.event
           WHERE events.call IS NOT NULL GROUP BY events.call) AS money ON money.call = calls.number
LEFT JOIN names AS service ON service.kind = 'service' AND service.code = calls.service
LEFT JOIN names AS customer ON customer.kind = 'customer' AND customer.code = calls.customer
LEFT JOIN names AS zone ON zone.kind = 'zone' AND zone.code = calls.zone
LEFT JOIN names AS technician ON technician.kind = 'technician' AND technician.code = latest.technician
LEFT JOIN names AS time_window ON time_window.kind = 'window' AND time_window.code = latest.window
ORDER BY calls.number;

-- A service day reaches from its opening to its close, past midnight too.
CREATE VIEW days AS
SELECT dated.day + 1                                        AS day,
       date(run.start_date, dated.day || ' days')           AS date,
       sum(dated.kind = 2)                                  AS calls,
       sum(dated.kind = 6)                                  AS booked,
       sum(dated.kind = 5)                                  AS declined,
       sum(dated.kind IN (3, 4))                            AS rejected,
       sum(dated.kind = 12)                                 AS done,
       sum(dated.kind = 13)                                 AS missed,
       sum(dated.kind = 14)                                 AS failed,
       sum(dated.kind = 7)                                  AS cancelled,
       coalesce(sum(dated.cents), 0) / 100.0                AS change,
       (run.starting_cash + sum(coalesce(sum(dated.cents), 0)) OVER (ORDER BY dated.day)) / 100.0
                                                            AS cash
FROM (SELECT events.kind, ledger.cents,
             sum(events.kind = 1) OVER (ORDER BY events.number) - 1 AS day
      FROM events LEFT JOIN ledger ON events.kind = 15 AND ledger.event = events.number) AS dated
JOIN run
GROUP BY dated.day
ORDER BY dated.day;
