-- The step that tests judges for bias has another name.
UPDATE calls SET stage = 'evaluate.judge_bias_tests' WHERE stage = 'evaluate.judge_probes';
UPDATE charges SET stage = 'evaluate.judge_bias_tests' WHERE stage = 'evaluate.judge_probes';
UPDATE renewals SET stage = 'evaluate.judge_bias_tests' WHERE stage = 'evaluate.judge_probes';
UPDATE batch_items SET stage = 'evaluate.judge_bias_tests' WHERE stage = 'evaluate.judge_probes';
