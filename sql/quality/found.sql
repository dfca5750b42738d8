-- What the checks found, pair by pair, without what models answered, and the question that each goes on from.
SELECT
    dialogue_id, question_id, turn, kind, outcome, reasons, refusal, truncation, length, language, leftover,
    material, leak, repeated, near_duplicate, personal_data, blind_grade, other_grade, unsupported,
    contradictions, sensitive, unanswered, not_checked, q.follows
FROM quality.checks
LEFT JOIN (SELECT question_id, follows FROM dialogue.questions) AS q USING (question_id)
ORDER BY dialogue_id, turn;
