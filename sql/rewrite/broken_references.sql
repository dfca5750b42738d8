-- Rows of these tables that name a row which is not there: which row of which table, and where it is missing.
SELECT named_in, row_id, missing_in
FROM (
    SELECT 'rewrite.rewrites' AS named_in, rewrite_id AS row_id, 'dialogue.dialogues' AS missing_in
    FROM rewrite.rewrites
    ANTI JOIN dialogue.dialogues USING (dialogue_id)
    UNION ALL
    SELECT 'rewrite.candidates', task || '/' || image_id, 'ingest.entries'
    FROM rewrite.candidates
    ANTI JOIN ingest.entries USING (entry_id)
    UNION ALL
    SELECT 'rewrite.seeds', seed_id, 'rewrite.candidates'
    FROM rewrite.seeds
    ANTI JOIN rewrite.candidates USING (task, image_id)
    UNION ALL
    SELECT 'rewrite.seed_rewrites', rewrite_id, 'rewrite.seeds'
    FROM rewrite.seed_rewrites
    ANTI JOIN rewrite.seeds USING (seed_id)
    UNION ALL
    SELECT 'rewrite.contexts', dialogue_id, 'rewrite.candidates'
    FROM rewrite.contexts
    ANTI JOIN rewrite.candidates USING (task, image_id)
)
WHERE list_contains($tables, named_in)
ORDER BY ALL;
