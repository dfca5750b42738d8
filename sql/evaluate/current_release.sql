-- The release in force under a benchmark's name.
SELECT release_id FROM release.current WHERE name = $benchmark;
