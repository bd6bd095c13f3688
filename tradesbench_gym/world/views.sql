-- More of a run in words, for people with a browser of SQLite files. Dollars, dates and names; flags
-- are yes or no. A file may lack these views: nothing of the run stands in them, nothing reads them
-- but people, and a run is resumed, replayed and proven without them.

CREATE VIEW about AS
SELECT run.seed,
       CASE run.salt WHEN '0' THEN 'no' ELSE 'yes' END                              AS sealed,
       run.scenario, run.map,
       run.start_date                                                               AS first_day,
       date(run.start_date, (run.days - 1) || ' days')                              AS last_day,
       run.days,
       datetime(run.start_date, (SELECT max(at) FROM journal) || ' seconds')        AS stands_at,
       coalesce((SELECT replace(names.name, '_', ' ')
                 FROM events JOIN names ON names.kind = 'kind' AND names.code = events.kind
                 WHERE events.kind IN (17, 18) ORDER BY events.kind LIMIT 1), 'unfinished') AS state,
       head.journal                                                                 AS commands,
       head.calls,
       run.starting_cash / 100.0                                                    AS starting_cash,
       cash.dollars                                                                 AS cash,
       (cash.cents - run.starting_cash) / 100.0                                     AS profit
FROM run JOIN head JOIN cash;

-- The one offer of each caller who got one, and his answer.
CREATE VIEW offers AS
SELECT calls.number                                                                 AS call,
       datetime(run.start_date, answer.at || ' seconds')                            AS time,
       service.name                                                                 AS service,
       customer.name                                                                AS customer,
       CASE calls.urgent WHEN 1 THEN 'yes' ELSE 'no' END                            AS urgent,
       technician.name                                                              AS technician,
       date(run.start_date, answer.day || ' days')                                  AS service_day,
       time_window.name                                                             AS arrival_window,
       round((answer.day * 86400 + substr(time_window.name, 1, 2) * 3600
              + substr(time_window.name, 4, 2) * 60 - answer.at) / 3600.0, 2)       AS lead_hours,
       CASE answer.kind WHEN 6 THEN 'accepted' ELSE 'declined' END                  AS answer
FROM events AS answer JOIN run JOIN calls ON calls.number = answer.call
LEFT JOIN names AS service ON service.kind = 'service' AND service.code = calls.service
LEFT JOIN names AS customer ON customer.kind = 'customer' AND customer.code = calls.customer
LEFT JOIN names AS technician ON technician.kind = 'technician' AND technician.code = answer.technician
LEFT JOIN names AS time_window ON time_window.kind = 'window' AND time_window.code = answer.window
WHERE answer.kind IN (5, 6)
ORDER BY answer.number;

-- When somebody set off for each job, arrived, began and ended; the last time, where it was twice.
CREATE VIEW visits AS
SELECT visit.call                                                                   AS job,
       technician.name                                                              AS technician,
       date(run.start_date, visit.day || ' days')                                   AS service_day,
       time_window.name                                                             AS arrival_window,
       datetime(run.start_date, visit.departed || ' seconds')                       AS departed,
       datetime(run.start_date, visit.arrived || ' seconds')                        AS arrived,
       datetime(run.start_date, visit.started || ' seconds')                        AS started,
       datetime(run.start_date, visit.ended || ' seconds')                          AS ended,
       CASE visit.result WHEN 12 THEN 'done' WHEN 13 THEN 'missed' WHEN 14 THEN 'failed'
                         WHEN 7 THEN 'cancelled' ELSE 'not over' END                AS result,
       round((CASE WHEN visit.arrived >= visit.departed THEN visit.arrived END
              - visit.departed) / 60.0, 1)                                          AS drive_minutes,
       round((visit.ended - visit.started) / 60.0, 1)                               AS work_minutes,
       round((visit.day * 86400 + substr(time_window.name, 7, 2) * 3600
              + substr(time_window.name, 10, 2) * 60
              - coalesce(visit.started, visit.arrived)) / 60.0, 1)                  AS spare_minutes
FROM (SELECT call, max(technician) AS technician, max(day) AS day, max("window") AS "window",
             max(CASE kind WHEN 9 THEN at END)                                      AS departed,
             max(CASE kind WHEN 10 THEN at END)                                     AS arrived,
             max(CASE kind WHEN 11 THEN at END)                                     AS started,
             max(CASE WHEN kind IN (7, 12, 13, 14) THEN at END)                     AS ended,
             max(CASE WHEN kind IN (7, 12, 13, 14) THEN kind END)                   AS result
      FROM events WHERE kind IN (7, 9, 10, 11, 12, 13, 14) GROUP BY call
      HAVING max(kind = 9)) AS visit
JOIN run
LEFT JOIN names AS technician ON technician.kind = 'technician' AND technician.code = visit.technician
LEFT JOIN names AS time_window ON time_window.kind = 'window' AND time_window.code = visit."window"
ORDER BY visit.departed, visit.call;

-- What each job brought and cost.
CREATE VIEW earnings AS
SELECT events.call                                                                  AS job,
       service.name                                                                 AS service,
       customer.name                                                                AS customer,
       sum(CASE entry WHEN 0 THEN cents ELSE 0 END) / 100.0                         AS invoice,
       sum(CASE entry WHEN 1 THEN cents ELSE 0 END) / 100.0                         AS premium,
       sum(CASE entry WHEN 2 THEN cents ELSE 0 END) / 100.0                         AS material,
       sum(CASE entry WHEN 3 THEN cents ELSE 0 END) / 100.0                         AS share,
       sum(CASE entry WHEN 4 THEN cents ELSE 0 END) / 100.0                         AS overtime,
       sum(cents) / 100.0                                                           AS total
FROM ledger JOIN events ON events.number = ledger.event
JOIN calls ON calls.number = events.call
LEFT JOIN names AS service ON service.kind = 'service' AND service.code = calls.service
LEFT JOIN names AS customer ON customer.kind = 'customer' AND customer.code = calls.customer
GROUP BY events.call
ORDER BY events.call;

-- The ledger of each service day by kind of entry.
CREATE VIEW daily_ledger AS
SELECT dated.day + 1                                                                AS day,
       date(run.start_date, dated.day || ' days')                                   AS date,
       sum(CASE entry WHEN 0 THEN cents ELSE 0 END) / 100.0                         AS invoice,
       sum(CASE entry WHEN 1 THEN cents ELSE 0 END) / 100.0                         AS premium,
       sum(CASE entry WHEN 2 THEN cents ELSE 0 END) / 100.0                         AS material,
       sum(CASE entry WHEN 3 THEN cents ELSE 0 END) / 100.0                         AS share,
       sum(CASE entry WHEN 4 THEN cents ELSE 0 END) / 100.0                         AS overtime,
       sum(CASE entry WHEN 5 THEN cents ELSE 0 END) / 100.0                         AS base_pay,
       sum(CASE entry WHEN 6 THEN cents ELSE 0 END) / 100.0                         AS on_call_pay,
       sum(CASE entry WHEN 7 THEN cents ELSE 0 END) / 100.0                         AS overhead,
       coalesce(sum(cents), 0) / 100.0                                              AS total
FROM (SELECT ledger.entry, ledger.cents,
             sum(events.kind = 1) OVER (ORDER BY events.number) - 1 AS day
      FROM events LEFT JOIN ledger ON events.kind = 15 AND ledger.event = events.number) AS dated
JOIN run
GROUP BY dated.day
HAVING dated.day >= 0
ORDER BY dated.day;
