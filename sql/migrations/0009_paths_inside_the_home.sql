-- Pages are named by their paths inside the home, which are right wherever the home is.
UPDATE evaluate.reports SET path = regexp_replace(path, '^.*/(reports/[^/]+)$', '\1');
UPDATE cluster.pictures SET path = regexp_replace(path, '^.*/(reports/cluster/[^/]+)$', '\1');
