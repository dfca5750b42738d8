-- Who has answers on one release.
SELECT DISTINCT model FROM evaluate.answers WHERE release_id = $release_id ORDER BY model;
