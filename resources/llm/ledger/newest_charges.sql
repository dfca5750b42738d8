-- Every charge before a place, the newest first, and whether a filter lets it through. The filter is a
-- result, not a condition, so that who reads knows how many it has looked at and may stop anywhere.
-- What is cheap is asked first: `holds` unpacks the request.
SELECT seq, created_at,
    CASE WHEN
        (:stage IS NULL OR stage = :stage)
        AND (:model IS NULL OR model = :model)
        AND (:endpoint IS NULL OR endpoint = :endpoint)
        AND (:outcome IS NULL OR outcome = :outcome OR (:outcome = 'lost' AND outcome <> 'answered'))
        AND (:run IS NULL OR substr(run, 1, length(:run)) = :run)
        AND (:cost IS NULL OR cost_usd >= :cost)
    THEN CASE WHEN :text IS NULL THEN 1 ELSE holds(:text, response, reasoning, detail, request) END
    ELSE 0 END
FROM charges
WHERE seq < coalesce(:before, 9223372036854775807)
ORDER BY seq DESC;
