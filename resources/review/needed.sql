-- By kind: the decisions of annotators that are needed, the items on which round 1 is open, those on which
-- it is over, those that wait for an expert, and those of round 1 that went to one.
SELECT
    s.kind,
    sum(CASE WHEN s.status IN ('round_1', 'to_rework') THEN s.people ELSE 0 END) AS n_needed,
    count(*) FILTER (WHERE s.status = 'round_1') AS n_open,
    count(*) FILTER (WHERE s.status = 'to_rework') AS n_rework,
    count(*) FILTER (WHERE s.status IN ('round_2', 'to_rework', 'rejected', 'approved')) AS n_past,
    count(*) FILTER (WHERE s.status = 'round_2') AS n_waiting,
    count(*) FILTER (WHERE s.status = 'round_2' OR e.item_id IS NOT NULL) AS n_to_expert
FROM standings AS s
LEFT JOIN (SELECT DISTINCT item_id FROM in_force WHERE round = 2) AS e USING (item_id)
GROUP BY s.kind
ORDER BY s.kind
