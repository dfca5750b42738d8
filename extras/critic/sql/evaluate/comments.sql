COMMENT ON COLUMN evaluate.critic_left_out.benchmark IS 'Benchmark of the release.';
COMMENT ON COLUMN evaluate.critic_left_out.release_id IS 'Release that the answer is on.';
COMMENT ON COLUMN evaluate.critic_left_out.model IS 'Who answered.';
COMMENT ON COLUMN evaluate.critic_left_out.item_id IS 'Item of release.items.';
COMMENT ON COLUMN evaluate.critic_left_out.trial IS 'Trial of the answer.';
COMMENT ON COLUMN evaluate.critic_left_out.turn IS 'Turn of the answer, from 1.';
COMMENT ON COLUMN evaluate.critic_left_out.part IS 'Which of several judgments of the turn it is; empty where there is none.';
COMMENT ON COLUMN evaluate.critic_left_out.reason IS 'Why no training pair is made of it.';
