-- The assignments that have not ended, in the order they were made.
SELECT assignment_id, annotator, round, kind, bucket, start, share, made_by, made_at
FROM assignments
WHERE ends IS NULL AND assignment_id NOT IN (SELECT ends FROM assignments WHERE ends IS NOT NULL)
ORDER BY assignment_id
