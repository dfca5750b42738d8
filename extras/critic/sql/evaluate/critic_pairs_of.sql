-- The training pairs of one release, in the order of the files.
SELECT *
FROM evaluate.critic_pairs
WHERE release_id = $release_id
ORDER BY side, ordinal;
