-- One row an image of a release, in order.
SELECT m.* EXCLUDE (release_id)
FROM release.images AS m
JOIN release.items AS i USING (release_id, item_id)
WHERE m.release_id = $release_id
ORDER BY i.ordinal, m.position;
