-- How many entries each cluster has.
SELECT size FROM cluster.cohesion ORDER BY size DESC;
