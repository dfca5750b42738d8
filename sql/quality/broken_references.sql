-- Rows of these tables that name a row which is not there: which row of which table, and where it is missing.
SELECT named_in, row_id, missing_in
FROM (
    SELECT 'quality.checks' AS named_in, dialogue_id || '/' || question_id AS row_id, 'dialogue.dialogues' AS missing_in
    FROM quality.checks
    ANTI JOIN (
        SELECT dialogue_id, unnest(turns).question_id AS question_id FROM dialogue.dialogues
    ) AS turns USING (dialogue_id, question_id)
    UNION ALL
    SELECT 'quality.asked', dialogue_id || '/' || step, 'dialogue.dialogues'
    FROM quality.asked
    ANTI JOIN dialogue.dialogues USING (dialogue_id)
)
WHERE list_contains($tables, named_in)
ORDER BY ALL;
