-- Question-answer pairs by what their checks came to, and by what was found in them ('' is the outcome itself).
SELECT kind, outcome, reason, count(*) AS n
FROM (
    SELECT kind, outcome, '' AS reason FROM quality.checks
    UNION ALL
    SELECT kind, outcome, unnest(reasons) FROM quality.checks
)
GROUP BY kind, outcome, reason
ORDER BY kind, reason, outcome;
