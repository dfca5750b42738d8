-- How the model was asked for each answer. Earlier answers get it when evaluation runs again, which asks nothing.
ALTER TABLE evaluate.answers ADD COLUMN settings MAP(VARCHAR, VARCHAR);
