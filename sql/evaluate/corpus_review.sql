-- Items of each kind by their state, how many people's decisions were demanded, and how many people decided on.
SELECT
    a.kind,
    count(*) FILTER (a.status = 'approved') AS n_approved,
    count(*) FILTER (a.status = 'rejected') AS n_rejected,
    count(*) FILTER (a.status = 'pending') AS n_pending,
    count(*) FILTER (a.revision > 0) AS n_edited,
    count(*) FILTER (a.demanded) AS n_demanded,
    count(d.item_id) AS n_decided,
    any_value(a.policy) AS policy
FROM review.approved AS a
LEFT JOIN (SELECT DISTINCT item_id FROM review.decisions WHERE verdict <> 'skip') AS d USING (item_id)
GROUP BY a.kind
ORDER BY a.kind;
