SELECT * FROM evaluate.provenance ORDER BY benchmark, release, model, item, trial, turn, judge, replicate, part;
