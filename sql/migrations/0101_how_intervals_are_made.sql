-- How an interval was made, and of how many clusters: NULL in rows of earlier versions until they are made anew.
ALTER TABLE evaluate.scores ADD COLUMN n_clusters INTEGER;
ALTER TABLE evaluate.scores ADD COLUMN method VARCHAR;
ALTER TABLE evaluate.scores ADD COLUMN seed BIGINT;
ALTER TABLE evaluate.comparisons ADD COLUMN method VARCHAR;
ALTER TABLE evaluate.comparisons ADD COLUMN seed BIGINT;
ALTER TABLE evaluate.ability_comparisons ADD COLUMN method VARCHAR;
ALTER TABLE evaluate.ability_comparisons ADD COLUMN seed BIGINT;
ALTER TABLE evaluate.findings ADD COLUMN method VARCHAR;
ALTER TABLE evaluate.findings ADD COLUMN seed BIGINT;
