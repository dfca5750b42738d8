-- Entries in languages that the model does not read.
SELECT l.language, count(DISTINCT e.entry_id) AS n
FROM cluster.languages AS l
JOIN ingest.entries AS e USING (language)
WHERE l.model = $model AND NOT l.is_read
GROUP BY l.language
ORDER BY n DESC, l.language;
