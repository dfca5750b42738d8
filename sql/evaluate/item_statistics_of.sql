-- The statistics of a release's items, in their order.
SELECT i.ordinal, s.item_id, s.n_models, s.share_right, s.discrimination, s.why, s.flags
FROM evaluate.item_statistics AS s
JOIN release.items AS i USING (release_id, item_id)
WHERE s.release_id = $release_id
ORDER BY i.ordinal;
