-- Who was asked for the scores of one release, and the calls that answered: models for answers, readers of letters (a
-- model, or `rule`), judges. An imported prediction has no call.
SELECT 'answer' AS role, model AS candidate, model AS asked, call_key
FROM evaluate.answers
WHERE release_id = $release_id AND status <> 'given'
UNION ALL
SELECT 'reader' AS role, e.model AS candidate, e.extractor AS asked, e.call_key
FROM evaluate.extractions AS e
JOIN evaluate.answers AS a USING (release_id, model, item_id, trial, turn)
-- A reading of an answer that has been replaced is none.
WHERE e.release_id = $release_id AND e.answer_call_key IS NOT DISTINCT FROM a.call_key
UNION ALL
SELECT 'judge' AS role, model AS candidate, judge AS asked, call_key
FROM evaluate.judgments
WHERE release_id = $release_id
ORDER BY ALL;
