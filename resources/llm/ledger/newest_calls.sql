-- Every call before a place, the newest first, and whether a filter lets it through. The filter is a
-- result, not a condition, so that who reads knows how many it has looked at and may stop anywhere.
-- Where a text is looked for, those that fit otherwise have their texts.
SELECT
    seq, created_at, fits,
    CASE WHEN fits = 1 AND CAST(:text AS TEXT) IS NOT NULL THEN response END AS response,
    CASE WHEN fits = 1 AND CAST(:text AS TEXT) IS NOT NULL THEN reasoning END AS reasoning,
    CASE WHEN fits = 1 AND CAST(:text AS TEXT) IS NOT NULL THEN '' END AS detail,
    CASE WHEN fits = 1 AND CAST(:text AS TEXT) IS NOT NULL THEN request END AS request
FROM (
    SELECT *,
        CASE WHEN
            (CAST(:stage AS TEXT) IS NULL OR stage = :stage)
            AND (CAST(:model AS TEXT) IS NULL OR model = :model)
            AND (CAST(:endpoint AS TEXT) IS NULL OR endpoint = :endpoint)
            AND (
                CAST(:outcome AS TEXT) IS NULL OR outcome = :outcome
                OR (:outcome = 'lost' AND outcome <> 'answered')
            )
            AND (CAST(:run AS TEXT) IS NULL OR substr(run, 1, length(:run)) = :run)
            AND (CAST(:cost AS DOUBLE PRECISION) IS NULL OR cost_usd >= :cost)
        THEN 1 ELSE 0 END AS fits
    FROM calls
) AS asked
WHERE seq < coalesce(CAST(:before AS BIGINT), 9223372036854775807)
ORDER BY seq DESC
LIMIT :most;
