-- The pairs of pictures that an earlier run compared.
SELECT first_id, second_id, coarse, detail, common, differing, is_same FROM cluster.picture_pairs;
