-- Reports of the releases in force.
SELECT path FROM evaluate.reports JOIN release.current USING (release_id) ORDER BY name;
