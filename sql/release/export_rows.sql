-- Items of a release by their place, from `first` to `last`, each with all that belongs to it. A reviewer that is
-- a policy is no person.
WITH items AS (
    SELECT * FROM release.items WHERE release_id = $release_id AND ordinal BETWEEN $first AND $last
),
refs AS (
    SELECT item_id, turn, list({'key': kind, 'value': reference} ORDER BY kind) AS refs
    FROM release.references
    WHERE release_id = $release_id AND item_id IN (SELECT item_id FROM items)
    GROUP BY item_id, turn
),
turns AS (
    SELECT
        t.item_id,
        list(
            {
                'turn': t.turn,
                'question': t.question,
                'image_positions': t.image_positions,
                'given': t.given,
                'references': r.refs
            }
            ORDER BY t.turn
        ) AS turns
    FROM release.turns AS t
    LEFT JOIN refs AS r USING (item_id, turn)
    WHERE t.release_id = $release_id AND t.item_id IN (SELECT item_id FROM items)
    GROUP BY t.item_id
),
choices AS (
    SELECT item_id, list(choice ORDER BY position) AS choices
    FROM release.choices
    WHERE release_id = $release_id AND item_id IN (SELECT item_id FROM items)
    GROUP BY item_id
),
images AS (
    SELECT
        item_id,
        list(
            {
                'image_id': image_id,
                'title': title,
                'page_url': page_url,
                'artist': artist,
                'licence': licence,
                'licence_url': licence_url,
                'attribution': attribution
            }
            ORDER BY position
        ) AS images
    FROM release.images
    WHERE release_id = $release_id AND item_id IN (SELECT item_id FROM items)
    GROUP BY item_id
)
SELECT
    i.item_id,
    i.group_id,
    i.revision,
    len(list_filter(i.reviewers, lambda name: name NOT LIKE 'policy:%')) AS n_reviewers,
    map_entries(i.labels) AS labels,
    t.turns,
    c.choices,
    m.images
FROM items AS i
LEFT JOIN turns AS t USING (item_id)
LEFT JOIN choices AS c USING (item_id)
LEFT JOIN images AS m USING (item_id)
ORDER BY i.ordinal;
