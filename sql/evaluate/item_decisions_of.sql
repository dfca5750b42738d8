-- What people decided on flagged items of a release.
SELECT item_id, decision, reason, reviewers
FROM evaluate.item_decisions
WHERE release_id = $release_id
ORDER BY item_id;
