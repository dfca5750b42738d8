-- What the lead's figures follow from: the decisions, and then, in few values, all else.
SELECT
    (SELECT coalesce(max(event_id), 0) FROM events) + (SELECT count(*) FROM revocations) AS n_changes,
    (SELECT count(*) FROM gold) AS n_gold,
    (SELECT rules FROM rules) AS rules,
    (
        SELECT group_concat(o.reviewer, char(10))
        FROM (SELECT DISTINCT reviewer FROM events ORDER BY reviewer) AS o
    ) AS names,
    (
        SELECT group_concat(o.kind || ' ' || o.n_items)
        FROM (SELECT kind, count(*) AS n_items FROM standings GROUP BY kind ORDER BY kind) AS o
    ) AS n_items
