-- How much there is of each item of a release: turns, images, characters of questions and references.
SELECT
    coalesce(t.turns, 0) AS turns,
    coalesce(m.images, 0) AS images,
    coalesce(t.question_length, 0) AS question_length,
    coalesce(r.reference_length, 0) AS reference_length
FROM release.items AS i
LEFT JOIN (
    SELECT release_id, item_id, count(*) AS turns, sum(length(question))::INTEGER AS question_length
    FROM release.turns
    GROUP BY release_id, item_id
) AS t USING (release_id, item_id)
LEFT JOIN (
    SELECT release_id, item_id, count(*) AS images FROM release.images GROUP BY release_id, item_id
) AS m USING (release_id, item_id)
LEFT JOIN (
    SELECT release_id, item_id, sum(length(reference))::INTEGER AS reference_length
    FROM release.references
    GROUP BY release_id, item_id
) AS r USING (release_id, item_id)
WHERE i.release_id = $release_id
ORDER BY i.ordinal;
