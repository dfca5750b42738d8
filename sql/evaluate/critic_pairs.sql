-- Every training pair, without its texts for the critic, in the order of the files.
SELECT release_id, pair_id, split, seed, group_id, images, question, model, item_id, trial, turn
FROM evaluate.critic_pairs
ORDER BY release_id, split, ordinal;
