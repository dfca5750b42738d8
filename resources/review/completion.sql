-- How far people are with each kind of items.
SELECT
    s.kind,
    count(*) AS n_items,
    count(*) FILTER (WHERE s.people > 0) AS n_open,
    coalesce(sum(e.n_decisions), 0) AS n_decisions,
    coalesce(max(e.last_event), 0) AS last_event,
    coalesce(max(e.last_revocation), 0) AS last_revocation
FROM standings AS s
LEFT JOIN (
    SELECT
        d.item_id,
        count(*) - count(r.event_id) AS n_decisions,
        max(d.event_id) AS last_event,
        max(r.revocation_id) AS last_revocation
    FROM events AS d
    LEFT JOIN revocations AS r USING (event_id)
    GROUP BY d.item_id
) AS e USING (item_id)
GROUP BY s.kind
ORDER BY s.kind
