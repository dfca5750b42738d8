SELECT * FROM evaluate.provenance ORDER BY benchmark, release, model, item, turn;
