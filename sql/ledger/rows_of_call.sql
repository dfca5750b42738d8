-- Rows that name a call: their table, and their place in it for a person to read.
SELECT DISTINCT named_by, place
FROM (
    SELECT 'dialogue.summaries' AS named_by, 'set ' || set_id || ', entry ' || entry_id AS place
    FROM dialogue.summaries WHERE call_key = $key
    UNION ALL
    SELECT
        'dialogue.questions',
        'set ' || set_id || ', image ' || array_to_string(positions, ' and ') || ', question ' || ordinal
    FROM dialogue.questions WHERE call_key = $key
    UNION ALL
    SELECT 'dialogue.answers', 'set ' || set_id || ', question ' || question_id
    FROM dialogue.answers WHERE call_key = $key
    UNION ALL
    SELECT 'dialogue.instructions', 'image ' || image_id || ', instruction ' || instruction_id
    FROM dialogue.instructions WHERE call_key = $key
    UNION ALL
    SELECT 'dialogue.three_turns', 'image ' || image_id || ', item ' || item_id
    FROM dialogue.three_turns WHERE call_key = $key
    UNION ALL
    SELECT 'dialogue.turn_references', 'item ' || item_id || ', turn ' || turn || ', ' || kind
    FROM dialogue.turn_references WHERE call_key = $key
    UNION ALL
    SELECT 'dialogue.failed', 'set ' || set_id || ', ' || stage || ' of ' || subject || ': ' || reason
    FROM dialogue.failed WHERE call_key = $key
    UNION ALL
    SELECT 'rewrite.rewrites', 'set ' || set_id || ', dialogue ' || dialogue_id || ', rewrite ' || ordinal
    FROM rewrite.rewrites WHERE call_key = $key
    UNION ALL
    SELECT 'rewrite.seeds', 'seed ' || seed_id || ', ' || task
    FROM rewrite.seeds WHERE call_key = $key
    UNION ALL
    SELECT 'rewrite.seed_rewrites', 'seed ' || seed_id || ', rewrite ' || ordinal
    FROM rewrite.seed_rewrites WHERE call_key = $key
    UNION ALL
    SELECT 'rewrite.contexts', 'dialogue ' || dialogue_id || ', ' || task
    FROM rewrite.contexts WHERE call_key = $key
    UNION ALL
    SELECT 'rewrite.failed', 'set ' || set_id || ', ' || stage || ' of ' || subject || ': ' || reason
    FROM rewrite.failed WHERE call_key = $key
    UNION ALL
    SELECT 'choice.items', 'entry ' || entry_id || ', item ' || item_id || ', ' || ability
    FROM choice.items WHERE call_key = $key
    UNION ALL
    SELECT 'choice.translations', 'item ' || item_id || ' in ' || language
    FROM choice.translations WHERE call_key = $key
    UNION ALL
    SELECT 'choice.mmiu_items', 'item ' || item_id || ', ' || task
    FROM choice.mmiu_items WHERE call_key = $key
    UNION ALL
    SELECT 'choice.failed', 'set ' || set_id || ', ' || stage || ' of ' || subject || ': ' || reason
    FROM choice.failed WHERE call_key = $key
    UNION ALL
    SELECT 'quality.asked', 'dialogue ' || dialogue_id || ', ' || step
    FROM quality.asked WHERE call_key = $key
    UNION ALL
    SELECT 'quality.failed', 'set ' || set_id || ', ' || subject || ': ' || reason
    FROM quality.failed WHERE call_key = $key
    UNION ALL
    SELECT 'release.turns', 'release ' || release_id || ', item ' || item_id || ', turn ' || turn
    FROM release.turns WHERE call_key = $key
    UNION ALL
    SELECT 'release.references', 'release ' || release_id || ', item ' || item_id || ', turn ' || turn
    FROM release.references WHERE call_key = $key
    UNION ALL
    SELECT
        'evaluate.answers',
        'release ' || release_id || ', model ' || model || ', item ' || item_id || ', turn ' || turn
    FROM evaluate.answers WHERE call_key = $key
    UNION ALL
    SELECT
        'evaluate.extractions',
        'release ' || release_id || ', model ' || model || ', item ' || item_id || ', turn ' || turn
        || ', trial ' || trial || ': what ' || extractor || ' read'
    FROM evaluate.extractions WHERE call_key = $key
    UNION ALL
    SELECT
        'evaluate.extractions',
        'release ' || release_id || ', model ' || model || ', item ' || item_id || ', turn ' || turn
        || ', trial ' || trial || ': the answer that ' || extractor || ' read'
    FROM evaluate.extractions WHERE answer_call_key = $key
    UNION ALL
    SELECT
        'evaluate.second_readings',
        'release ' || release_id || ', model ' || model || ', item ' || item_id || ', turn ' || turn
        || ', trial ' || trial || ': what ' || extractor || ' read'
    FROM evaluate.second_readings WHERE call_key = $key
    UNION ALL
    SELECT
        'evaluate.second_readings',
        'release ' || release_id || ', model ' || model || ', item ' || item_id || ', turn ' || turn
        || ', trial ' || trial || ': the answer that ' || extractor || ' read'
    FROM evaluate.second_readings WHERE answer_call_key = $key
    UNION ALL
    SELECT
        'evaluate.bias_test_judgments',
        'release ' || release_id || ', model ' || model || ', item ' || item_id || ', turn ' || turn
        || ', judged by ' || judge || ' with ' || bias_test || ' planted'
    FROM evaluate.bias_test_judgments WHERE call_key = $key
    UNION ALL
    SELECT
        'evaluate.bias_test_judgments',
        'release ' || release_id || ', model ' || model || ', item ' || item_id || ', turn ' || turn
        || ': the answer that ' || judge || ' judged with ' || bias_test || ' planted'
    FROM evaluate.bias_test_judgments WHERE answer_call_key = $key
    UNION ALL
    SELECT
        'evaluate.judgments',
        'release ' || release_id || ', model ' || model || ', item ' || item_id || ', turn ' || turn
        || ', judged by ' || judge
    FROM evaluate.judgments WHERE call_key = $key
    UNION ALL
    SELECT
        'evaluate.judgments',
        'release ' || release_id || ', model ' || model || ', item ' || item_id || ', turn ' || turn
        || ': the answer that ' || judge || ' judged'
    FROM evaluate.judgments WHERE answer_call_key = $key
    UNION ALL
    SELECT
        'evaluate.pairs',
        'release ' || release_id || ', item ' || item_id || ', turn ' || turn
        || ': ' || judge || ' compared ' || model_a || ' with ' || model_b
    FROM evaluate.pairs WHERE call_key = $key
    UNION ALL
    SELECT
        'evaluate.pairs',
        'release ' || release_id || ', item ' || item_id || ', turn ' || turn
        || ': the answer of ' || model_a || ' that ' || judge || ' compared'
    FROM evaluate.pairs WHERE answer_a_call_key = $key
    UNION ALL
    SELECT
        'evaluate.pairs',
        'release ' || release_id || ', item ' || item_id || ', turn ' || turn
        || ': the answer of ' || model_b || ' that ' || judge || ' compared'
    FROM evaluate.pairs WHERE answer_b_call_key = $key
    UNION ALL
    SELECT
        'evaluate.failed',
        'release ' || release_id || ', model ' || model || ', item ' || item_id || ', turn ' || turn
        || ', ' || stage || ': ' || reason
    FROM evaluate.failed WHERE call_key = $key
)
ORDER BY named_by, place
LIMIT $n_rows;
