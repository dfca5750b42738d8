-- Ranks say whether the model judged or wrote, or is of the family of who did; of earlier ones it is not known.
ALTER TABLE evaluate.ranks ADD COLUMN related VARCHAR;
