-- Which entry of which set each picture of a dialogue is; a stack has pictures of several sets.
CREATE OR REPLACE VIEW dialogue.dialogue_images AS
SELECT p.dialogue_id, p.position, p.image_id, s.set_id, s.entry_id
FROM (
    SELECT dialogue_id, unnest(image_ids) AS image_id, generate_subscripts(image_ids, 1) AS position
    FROM dialogue.dialogues
) AS p
JOIN (
    SELECT dialogue_id, set_id FROM dialogue.dialogues
    UNION
    SELECT t.dialogue_id, q.set_id
    FROM (SELECT dialogue_id, unnest(turns).question_id AS question_id FROM dialogue.dialogues) AS t
    JOIN dialogue.questions AS q USING (question_id)
) AS d USING (dialogue_id)
JOIN cluster.image_sets AS s ON s.set_id = d.set_id AND s.image_id = p.image_id
QUALIFY row_number() OVER (PARTITION BY p.dialogue_id, p.position ORDER BY s.set_id) = 1;
