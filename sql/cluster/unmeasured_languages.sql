-- Languages of entries of which it is not known whether the model reads them.
SELECT DISTINCT language
FROM ingest.entries
ANTI JOIN (SELECT language FROM cluster.languages WHERE model = $model) USING (language);
