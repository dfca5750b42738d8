-- Models without scores on a current release of a benchmark, without those that are archived.
SELECT c.release_id, m.model
FROM release.current AS c
JOIN release.releases AS r USING (release_id)
CROSS JOIN (SELECT unnest($models) AS model) AS m
ANTI JOIN evaluate.scores AS s ON s.release_id = c.release_id AND s.model = m.model
WHERE r.benchmark IS NOT NULL
    AND NOT EXISTS (
        FROM evaluate.archive AS x
        WHERE x.state = 'archived'
            AND x.judge = ''
            AND x.model = m.model
            AND x.release_id IN ('', c.release_id)
    )
ORDER BY c.release_id, m.model;
