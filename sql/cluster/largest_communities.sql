-- The largest groups and clusters, with the text at the centre: categories of a group, caption of a cluster.
SELECT c.kind, e.text AS centre, c.n_members, c.community_id
FROM cluster.communities AS c
JOIN cluster.embeddings AS e
    ON e.text_id = if(c.kind = 'group', c.category_text_id, c.caption_text_id) AND e.model = c.model
QUALIFY row_number() OVER (PARTITION BY c.kind ORDER BY c.n_members DESC, c.community_id) <= $n_each
ORDER BY c.kind DESC, c.n_members DESC, c.community_id;
