-- Entries in the benchmark split that were sampled into image sets, each once, with its summary where there is one.
SELECT s.entry_id, s.set_id, s.image_id, e.language, e.caption, m.summary
FROM cluster.image_sets AS s
JOIN (SELECT DISTINCT entry_id, language, caption FROM ingest.entries) AS e USING (entry_id)
JOIN cluster.entry_splits AS o ON o.entry_id = s.entry_id AND o.split = 'benchmark'
LEFT JOIN dialogue.summaries AS m USING (set_id, entry_id)
-- An entry of several sets is taken from one whose summary there is; an image of several entries once.
QUALIFY
    row_number() OVER (PARTITION BY s.entry_id ORDER BY m.summary IS NULL, s.set_id) = 1
    AND row_number() OVER (PARTITION BY s.image_id ORDER BY s.entry_id, m.summary IS NULL, s.set_id) = 1
ORDER BY s.entry_id;
