-- The questions of every set, in the order they were asked for, with their answers where there are any.
SELECT q.set_id, q.question_id, q.positions, q.ordinal, q.question, q.follows, a.answer
FROM dialogue.questions AS q
LEFT JOIN dialogue.answers AS a USING (question_id)
ORDER BY q.set_id, len(q.positions), q.positions, q.ordinal;
