-- Of each language $n captions, those with the smallest text ids.
SELECT language, arg_min(text, text_id, $n::BIGINT) AS texts
FROM (
    SELECT DISTINCT e.language, t.text, t.text_id
    FROM cluster.entry_texts AS t
    JOIN ingest.entries AS e USING (entry_id)
    WHERE t.space = 'caption'
)
GROUP BY language
ORDER BY language;
