-- Reports of the current releases on which models were evaluated.
SELECT path FROM evaluate.reports JOIN release.current USING (release_id) WHERE n_models > 0 ORDER BY name;
