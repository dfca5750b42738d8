-- Calls whose answer stands in a table and that are not in ledger.calls as answered, with who names them.
-- A release repeats calls of the tables that it was made of, or has those of the workspace that it was imported from.
WITH named AS (
    SELECT 'dialogue.summaries' AS named_by, call_key FROM dialogue.summaries
    UNION ALL
    SELECT 'dialogue.questions', call_key FROM dialogue.questions
    UNION ALL
    SELECT 'dialogue.answers', call_key FROM dialogue.answers
    UNION ALL
    SELECT 'dialogue.instructions', call_key FROM dialogue.instructions
    UNION ALL
    SELECT 'dialogue.three_turns', call_key FROM dialogue.three_turns
    UNION ALL
    SELECT 'dialogue.turn_references', call_key FROM dialogue.turn_references
    UNION ALL
    SELECT 'rewrite.rewrites', call_key FROM rewrite.rewrites
    UNION ALL
    SELECT 'rewrite.seeds', call_key FROM rewrite.seeds
    UNION ALL
    SELECT 'rewrite.seed_rewrites', call_key FROM rewrite.seed_rewrites
    UNION ALL
    SELECT 'rewrite.contexts', call_key FROM rewrite.contexts
    UNION ALL
    SELECT 'choice.items', call_key FROM choice.items
    UNION ALL
    SELECT 'choice.translations', call_key FROM choice.translations
    UNION ALL
    SELECT 'choice.mmiu_items', call_key FROM choice.mmiu_items
    UNION ALL
    SELECT 'quality.asked', call_key FROM quality.asked
    UNION ALL
    -- A provider's filter leaves no words and no answered call.
    SELECT 'evaluate.answers', call_key FROM evaluate.answers WHERE answer IS NOT NULL
    UNION ALL
    SELECT 'evaluate.extractions', call_key FROM evaluate.extractions WHERE value IS NOT NULL
    UNION ALL
    SELECT 'evaluate.second_readings', call_key FROM evaluate.second_readings WHERE value IS NOT NULL
    UNION ALL
    SELECT 'evaluate.second_readings', answer_call_key FROM evaluate.second_readings
    UNION ALL
    SELECT 'evaluate.judgments', call_key FROM evaluate.judgments
    UNION ALL
    SELECT 'evaluate.judgments', answer_call_key FROM evaluate.judgments
    UNION ALL
    SELECT 'evaluate.bias_test_judgments', call_key FROM evaluate.bias_test_judgments WHERE score_after IS NOT NULL
    UNION ALL
    SELECT 'evaluate.bias_test_judgments', answer_call_key FROM evaluate.bias_test_judgments
    UNION ALL
    SELECT 'evaluate.pairs', call_key FROM evaluate.pairs WHERE status = 'judged'
    UNION ALL
    SELECT 'evaluate.pairs', answer_a_call_key
    FROM evaluate.pairs WHERE status IN ('judged', 'not_judged', 'no_answer_b')
    UNION ALL
    SELECT 'evaluate.pairs', answer_b_call_key
    FROM evaluate.pairs WHERE status IN ('judged', 'not_judged', 'no_answer_a')
)
SELECT DISTINCT named_by, call_key
FROM named
ANTI JOIN (SELECT key FROM ledger.calls WHERE status = 'answered') AS answered
    ON answered.key = named.call_key
WHERE call_key IS NOT NULL
ORDER BY named_by, call_key;
