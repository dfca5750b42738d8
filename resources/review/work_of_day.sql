-- How many items of each kind a person has decided today or has locked now.
SELECT i.kind, count(*)
FROM (
    SELECT item_id FROM in_force
    WHERE reviewer = :reviewer AND decided_at >= :today AND verdict <> 'skip'
    UNION ALL
    SELECT item_id FROM locks WHERE annotator = :reviewer AND expires_at > :now
) AS today
JOIN items AS i USING (item_id)
GROUP BY i.kind
