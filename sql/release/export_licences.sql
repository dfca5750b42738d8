-- The licences of the pictures of each item of a release, and how many items have the same ones.
SELECT licences, count(*) AS n_items
FROM (
    SELECT i.item_id, list_sort(coalesce(list(DISTINCT coalesce(m.licence, '')) FILTER (m.image_id IS NOT NULL), [])) AS licences
    FROM release.items AS i
    LEFT JOIN release.images AS m USING (release_id, item_id)
    WHERE i.release_id = $release_id
    GROUP BY i.item_id
)
GROUP BY licences
ORDER BY licences;
