-- What a reply says of itself and is another matter: the model it names, tokens that nobody believes.
ALTER TABLE calls ADD COLUMN answered_as TEXT;
ALTER TABLE calls ADD COLUMN claimed_tokens INTEGER;
ALTER TABLE charges ADD COLUMN answered_as TEXT;
ALTER TABLE charges ADD COLUMN claimed_tokens INTEGER;
