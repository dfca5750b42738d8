-- What was left out, by step and reason, with a few examples: what it is of, and the detail.
WITH left_out AS (
    SELECT
        'ingest.' || if(kind = 'row', 'wit_rows', 'images') AS step,
        if(kind = 'row', 'row', 'picture') AS noun,
        reason, 1 AS n, wit_shard || ', ' || reference AS reference, detail
    FROM ingest.rejected
    UNION ALL
    SELECT 'ingest.' || step, 'row', reason, n_rows, wit_shard || ', ' || reference, detail FROM ingest.left_out
    UNION ALL
    SELECT DISTINCT 'cluster.splits', 'entry', s.reason, 1, coalesce(e.title, s.page_id), ''
    FROM cluster.splits AS s
    LEFT JOIN ingest.entries AS e USING (page_id, image_id)
    WHERE s.split IS NULL
    UNION ALL
    SELECT 'dialogue.' || stage, 'request', reason, 1, subject, detail FROM dialogue.failed
    UNION ALL
    SELECT 'rewrite.' || stage, 'request', reason, 1, subject, detail FROM rewrite.failed
    UNION ALL
    SELECT 'choice.' || stage, 'request', reason, 1, subject, detail FROM choice.failed
    UNION ALL
    SELECT 'quality.' || stage, 'check', reason, 1, subject, detail FROM quality.failed
    UNION ALL
    SELECT
        'quality.checks', 'pair', c.reasons[1], 1, 'turn ' || c.turn || ' of dialogue ' || c.dialogue_id,
        coalesce(t.question, '')
    FROM quality.checks AS c
    LEFT JOIN (
        SELECT d.dialogue_id, unnest(d.turns).question_id AS question_id, unnest(d.turns).question AS question
        FROM dialogue.dialogues AS d
        SEMI JOIN (SELECT dialogue_id FROM quality.checks WHERE outcome = 'drop') AS dropped USING (dialogue_id)
    ) AS t USING (dialogue_id, question_id)
    WHERE c.outcome = 'drop' AND c.kind = 'instruction'
    UNION ALL
    SELECT
        'review.approved', kind, coalesce(reason, 'without a reason'), 1, item_id,
        coalesce(
            content ->> '$.turns[0].question', content ->> '$.question', content ->> '$.rewrite', content ->> '$.text', ''
        )
    FROM review.approved
    WHERE status = 'rejected'
)
SELECT
    step,
    reason,
    any_value(noun) AS noun,
    sum(n)::BIGINT AS n,
    min_by({'reference': left(reference, 200), 'detail': left(detail, 400)}, reference, $n_examples) AS examples
FROM left_out
GROUP BY step, reason
ORDER BY split_part(step, '.', 1) <> 'ingest', step, n DESC, reason;
