-- What the checks found, pair by pair, without what models answered.
SELECT
    dialogue_id, question_id, turn, kind, outcome, reasons, refusal, truncation, length, language, leftover,
    material, leak, repeated, near_duplicate, personal_data, blind_grade, other_grade, unsupported,
    contradictions, sensitive, unanswered, not_checked
FROM quality.checks
ORDER BY dialogue_id, turn;
