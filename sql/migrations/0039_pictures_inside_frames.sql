-- Pictures are compared by what lies inside a frame: what was measured of whole ones is measured anew.
DELETE FROM cluster.picture_codes;
DELETE FROM cluster.picture_pairs;
