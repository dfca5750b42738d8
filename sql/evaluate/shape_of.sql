-- Turns, images and words of each dialogue of a release (MMDU, Table 1 and Figure 4).
SELECT
    i.item_id,
    (SELECT count(*) FROM release.turns AS t
     WHERE t.release_id = i.release_id AND t.item_id = i.item_id) AS n_turns,
    (SELECT count(*) FROM release.images AS m
     WHERE m.release_id = i.release_id AND m.item_id = i.item_id) AS n_images,
    (SELECT list(len(string_split_regex(trim(r.reference), '\s+'))) FROM release.references AS r
     WHERE r.release_id = i.release_id AND r.item_id = i.item_id) AS answer_words
FROM release.items AS i
WHERE i.release_id = $release_id
ORDER BY i.ordinal;
