-- Requests with more than one answer in the table.
SELECT key, count(*) AS n
FROM ledger.calls
WHERE status = 'answered'
GROUP BY key
HAVING count(*) > 1
ORDER BY key;
