-- Values that the newest calls and charges have, for a person to choose from.
WITH newest AS (
    SELECT stage, model, endpoint, run FROM (
        SELECT stage, model, endpoint, run FROM calls ORDER BY seq DESC LIMIT :n_newest
    )
    UNION ALL
    SELECT stage, model, endpoint, run FROM (
        SELECT stage, model, endpoint, run FROM charges ORDER BY seq DESC LIMIT :n_newest
    )
)
SELECT DISTINCT 'stage', stage FROM newest
UNION ALL
SELECT DISTINCT 'model', model FROM newest
UNION ALL
SELECT DISTINCT 'endpoint', coalesce(endpoint, 'unknown') FROM newest
UNION ALL
SELECT DISTINCT 'run', run FROM newest
ORDER BY 1, 2;
