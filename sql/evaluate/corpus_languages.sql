-- Pages and entries of each language.
SELECT
    language,
    count(*) AS n_pages,
    coalesce(any_value(e.n_entries), 0) AS n_entries
FROM (SELECT DISTINCT page_id, language FROM ingest.pages) AS p
LEFT JOIN (
    SELECT language, count(DISTINCT entry_id) AS n_entries
    FROM ingest.entries
    GROUP BY language
) AS e USING (language)
GROUP BY language
ORDER BY n_pages DESC, language;
