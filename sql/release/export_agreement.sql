-- How far all reviewers of a release's items agree, by what they decided on.
SELECT kind, dimension, measure, n_items, value, low, high
FROM review.agreement
WHERE raters = 'all' AND value IS NOT NULL AND kind IN (
    SELECT a.kind
    FROM review.approved AS a
    JOIN release.items AS i USING (item_id)
    WHERE i.release_id = $release_id
)
ORDER BY kind, dimension, measure;
