-- The code of each picture that an earlier run looked at.
SELECT image_id, code FROM cluster.picture_codes;
