-- Every community with both vectors of its centre, in the order in which those of a kind were found.
SELECT c.*, a.vector AS category, b.vector AS caption
FROM cluster.communities AS c
LEFT JOIN cluster.embeddings AS a ON a.text_id = c.category_text_id AND a.model = c.model
LEFT JOIN cluster.embeddings AS b ON b.text_id = c.caption_text_id AND b.model = c.model
ORDER BY c.kind, c.place;
