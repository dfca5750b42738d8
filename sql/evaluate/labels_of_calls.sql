-- The labels of the candidates that some calls answered for.
SELECT a.call_key AS key, string_agg(DISTINCT c.label, ', ' ORDER BY c.label) AS label
FROM evaluate.answers AS a
JOIN evaluate.candidates AS c USING (release_id, model)
WHERE a.call_key IN (SELECT unnest($keys))
GROUP BY a.call_key
ORDER BY a.call_key;
