-- Requests that the table has more than one answer to.
SELECT key, count(*) AS n
FROM ledger.calls
WHERE status = 'answered'
GROUP BY key
HAVING count(*) > 1
ORDER BY key;
