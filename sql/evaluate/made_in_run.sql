-- Models whose answers, and judges whose judgments of a model, are of calls that a run made.
SELECT a.model, '' AS judge, a.release_id
FROM evaluate.answers AS a
JOIN ledger.calls AS c ON c.key = a.call_key
WHERE starts_with(c.run, $run)
UNION
SELECT j.model, j.judge, j.release_id
FROM evaluate.judgments AS j
JOIN ledger.calls AS c ON c.key = j.call_key
WHERE starts_with(c.run, $run)
ORDER BY ALL;
