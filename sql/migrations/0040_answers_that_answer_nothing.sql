-- A model reads, too, whether an answer answers its question: of earlier pairs that is not known.
ALTER TABLE quality.checks ADD COLUMN unanswered VARCHAR[];
