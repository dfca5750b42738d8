-- How good each judge's overall scores are on one release: agreement with people and with other judges.
SELECT *
FROM evaluate.judge_quality
WHERE release_id = $release_id AND metric = $metric AND other <> ''
ORDER BY
    judge = 'panel',
    judge,
    judge_version,
    other <> 'people',
    other,
    origin,
    subset_label,
    subset_value,
    level,
    measure;
