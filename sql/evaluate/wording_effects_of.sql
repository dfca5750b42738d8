-- What each style of wordings costs or gives each model on one release.
SELECT *
FROM evaluate.wording_effects
WHERE release_id = $release_id
ORDER BY judge, judge_version, style, model;
