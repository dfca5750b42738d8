-- Rows of these tables that name a row which is not there: which row of which table, and where it is missing.
SELECT named_in, row_id, missing_in
FROM (
    SELECT 'dialogue.summaries' AS named_in, set_id || '/' || entry_id AS row_id, 'cluster.image_sets' AS missing_in
    FROM dialogue.summaries
    ANTI JOIN cluster.image_sets USING (set_id, entry_id)
    UNION ALL
    SELECT 'dialogue.questions', question_id, 'cluster.image_sets'
    FROM dialogue.questions
    ANTI JOIN cluster.image_sets USING (set_id)
    UNION ALL
    SELECT 'dialogue.answers', question_id, 'dialogue.questions'
    FROM dialogue.answers
    ANTI JOIN dialogue.questions USING (question_id)
    UNION ALL
    SELECT DISTINCT 'dialogue.dialogues', dialogue_id, 'dialogue.answers'
    FROM (SELECT dialogue_id, unnest(turns).question_id AS question_id FROM dialogue.dialogues)
    ANTI JOIN dialogue.answers USING (question_id)
    UNION ALL
    SELECT 'dialogue.instructions', instruction_id, 'ingest.entries'
    FROM dialogue.instructions
    ANTI JOIN ingest.entries USING (entry_id)
    UNION ALL
    SELECT 'dialogue.three_turns', item_id, 'dialogue.instructions'
    FROM dialogue.three_turns
    ANTI JOIN dialogue.instructions USING (instruction_id)
    UNION ALL
    SELECT DISTINCT 'dialogue.turn_references', item_id, 'dialogue.three_turns'
    FROM dialogue.turn_references
    ANTI JOIN dialogue.three_turns USING (item_id)
    UNION ALL
    SELECT 'dialogue.turn_categories', capability || '/' || name, 'dialogue.three_turns'
    FROM dialogue.turn_categories
    ANTI JOIN (
        SELECT ['perception', 'reasoning', 'creation'][turn] AS capability, t.task AS name
        FROM (SELECT unnest(turns) AS t, generate_subscripts(turns, 1) AS turn FROM dialogue.three_turns)
    ) AS tasks USING (capability, name)
)
WHERE list_contains($tables, named_in)
ORDER BY ALL;
