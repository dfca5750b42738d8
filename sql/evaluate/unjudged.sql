-- Releases, models and judges where the judge has neither judged nor failed to judge an answer of the model, and
-- the benchmark of the release. An answer without a reference has nothing to be judged by.
SELECT DISTINCT a.benchmark, a.release_id, a.model, w.judge
FROM evaluate.shown_answers AS a
CROSS JOIN (SELECT unnest($judges) AS judge) AS w
SEMI JOIN release.references AS r
    ON r.release_id = a.release_id AND r.item_id = a.item_id AND r.turn = a.turn
ANTI JOIN evaluate.judgments AS j
    ON j.judge = w.judge
    AND j.release_id = a.release_id
    AND j.model = a.model
    AND j.item_id = a.item_id
    AND j.trial = a.trial
    AND j.turn = a.turn
    AND j.answer_call_key IS NOT DISTINCT FROM a.call_key
ANTI JOIN evaluate.failed AS f
    ON f.stage = 'judgments'
    AND f.asked = w.judge
    AND f.release_id = a.release_id
    AND f.model = a.model
    AND f.item_id = a.item_id
    AND f.trial = a.trial
    AND f.turn = a.turn
WHERE a.answer IS NOT NULL AND a.status <> 'given'
ORDER BY ALL;
