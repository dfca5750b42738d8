-- Releases that have a report: current ones, those that were evaluated, and those that had one before; with
-- their languages: the release's own, else those of the pages that its images are from.
SELECT
    r.*,
    c.release_id IS NOT NULL AS is_current,
    coalesce(
        CASE WHEN r.language IS NOT NULL THEN [r.language] END,
        (
            SELECT list(DISTINCT p.language ORDER BY p.language)
            FROM release.images AS i
            JOIN ingest.pages AS p USING (page_url)
            WHERE i.release_id = r.release_id
        ),
        []
    ) AS languages
FROM release.releases AS r
LEFT JOIN release.current AS c USING (release_id)
WHERE c.release_id IS NOT NULL
    OR EXISTS (SELECT 1 FROM evaluate.scores AS s WHERE s.release_id = r.release_id)
    OR EXISTS (SELECT 1 FROM evaluate.reports AS p WHERE p.release_id = r.release_id)
ORDER BY is_current DESC, r.name, r.created_at DESC;
