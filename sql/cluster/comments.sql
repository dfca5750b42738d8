-- What each column of the tables and views of this stage means: DuckDB's prompt and Dagster's UI show it.

COMMENT ON COLUMN cluster.duplicates.image_id IS 'SHA-256 of the image''s file.';
COMMENT ON COLUMN cluster.duplicates.group_id IS 'Smallest image id among the near-duplicates of the image; its own if it has none.';
COMMENT ON COLUMN cluster.duplicates.n_urls IS 'Addresses in the corpus that lead to this very file.';
COMMENT ON COLUMN cluster.duplicates.distance IS 'Differing bits of the perceptual hash, 0 to 64, to the nearest near-duplicate; NULL if there is none.';

COMMENT ON COLUMN cluster.embeddings.text_id IS 'SHA-256 of the text.';
COMMENT ON COLUMN cluster.embeddings.model IS 'Name of the embedding model, with its backend unless that is torch.';
COMMENT ON COLUMN cluster.embeddings.text IS 'The text that was embedded.';
COMMENT ON COLUMN cluster.embeddings.vector IS 'Embedding of the text, of length 1.';

COMMENT ON COLUMN cluster.entry_texts.entry_id IS 'Entry of ingest.entries.';
COMMENT ON COLUMN cluster.entry_texts.space IS 'Which text: category (the page''s categories) or caption.';
COMMENT ON COLUMN cluster.entry_texts.text IS 'The text; for a page without categories its title.';
COMMENT ON COLUMN cluster.entry_texts.text_id IS 'SHA-256 of the text, as in cluster.embeddings.';

COMMENT ON COLUMN cluster.clusters.entry_id IS 'Entry of ingest.entries.';
COMMENT ON COLUMN cluster.clusters.category_text_id IS 'Text of the categories that was compared, as in cluster.embeddings.';
COMMENT ON COLUMN cluster.clusters.caption_text_id IS 'Caption that was compared, as in cluster.embeddings.';
COMMENT ON COLUMN cluster.clusters.group_id IS 'Group of the entry, by categories; NULL if it is in none.';
COMMENT ON COLUMN cluster.clusters.group_how IS 'Why it is in the group or in none: seed, assigned, no neighbour, absorbed or noise.';
COMMENT ON COLUMN cluster.clusters.group_centre IS 'Entry at the centre of the group.';
COMMENT ON COLUMN cluster.clusters.group_similarity IS 'Cosine of the categories to the group''s centre, -1 to 1.';
COMMENT ON COLUMN cluster.clusters.group_caption_similarity IS 'Cosine of the caption to the group''s centre, -1 to 1.';
COMMENT ON COLUMN cluster.clusters.nearest_group_id IS 'For an entry in no group, the group with the nearest centre.';
COMMENT ON COLUMN cluster.clusters.nearest_group_similarity IS 'Cosine of the categories to the centre of the nearest group, -1 to 1.';
COMMENT ON COLUMN cluster.clusters.cluster_id IS 'Cluster of the entry inside its group, by caption; NULL if it is in none.';
COMMENT ON COLUMN cluster.clusters.cluster_how IS 'Why it is in the cluster or in none: seed, assigned, no neighbour, absorbed or noise; NULL without a group.';
COMMENT ON COLUMN cluster.clusters.cluster_centre IS 'Entry at the centre of the cluster.';
COMMENT ON COLUMN cluster.clusters.cluster_similarity IS 'Cosine of the caption to the cluster''s centre, -1 to 1.';
COMMENT ON COLUMN cluster.clusters.cluster_category_similarity IS 'Cosine of the categories to the cluster''s centre, -1 to 1.';
COMMENT ON COLUMN cluster.clusters.nearest_cluster_id IS 'For an entry in a group and in no cluster, the cluster with the nearest centre.';
COMMENT ON COLUMN cluster.clusters.nearest_cluster_similarity IS 'Cosine of the caption to the centre of the nearest cluster, -1 to 1.';

COMMENT ON COLUMN cluster.clusters.page_id IS 'Page of the entry, as in ingest.pages.';
COMMENT ON COLUMN cluster.clusters.image_id IS 'SHA-256 of the image''s file.';

COMMENT ON COLUMN cluster.communities.community_id IS 'Id of the group or the cluster, kept while entries join and leave.';
COMMENT ON COLUMN cluster.communities.kind IS 'group (by categories) or cluster (by caption, inside a group).';
COMMENT ON COLUMN cluster.communities.group_id IS 'Group that a cluster is part of; NULL for a group.';
COMMENT ON COLUMN cluster.communities.centre_entry_id IS 'Entry at the centre; it stays the centre if it is removed from the corpus.';
COMMENT ON COLUMN cluster.communities.category_text_id IS 'Categories of the centre, as in cluster.embeddings.';
COMMENT ON COLUMN cluster.communities.caption_text_id IS 'Caption of the centre, as in cluster.embeddings.';
COMMENT ON COLUMN cluster.communities.n_members IS 'Entries in it.';
COMMENT ON COLUMN cluster.communities.created_in IS 'Run of Dagster that found it.';
COMMENT ON COLUMN cluster.communities.model IS 'Name of the embedding model that it was found with.';
COMMENT ON COLUMN cluster.communities.tau IS 'Smallest cosine at which two entries were related, -1 to 1.';
COMMENT ON COLUMN cluster.communities.min_size IS 'Smallest number of entries of a group or cluster.';
COMMENT ON COLUMN cluster.communities.group_method IS 'Method that groups were found by, such as threshold.';
COMMENT ON COLUMN cluster.communities.cluster_method IS 'Method that clusters were found by, such as threshold.';
COMMENT ON COLUMN cluster.communities.place IS 'Order in which the groups, or the clusters, were found, from 1; new entries join the first within tau.';

COMMENT ON COLUMN cluster.changes.run_id IS 'Run of Dagster that made the change.';
COMMENT ON COLUMN cluster.changes.changed_at IS 'When the change was made, in UTC.';
COMMENT ON COLUMN cluster.changes.kind IS 'group (by categories) or cluster (by caption, inside a group).';
COMMENT ON COLUMN cluster.changes.change IS 'What became of it: kept, split, merged, new or gone.';
COMMENT ON COLUMN cluster.changes.old_id IS 'Group or cluster before the run; NULL for a new one.';
COMMENT ON COLUMN cluster.changes.new_id IS 'Group or cluster after the run; NULL for one that is gone.';
COMMENT ON COLUMN cluster.changes.n_old IS 'Entries of the old one.';
COMMENT ON COLUMN cluster.changes.n_new IS 'Entries of the new one.';
COMMENT ON COLUMN cluster.changes.n_common IS 'Entries of both.';

COMMENT ON COLUMN cluster.image_sets.set_id IS 'Id of the image set: a hash of its kind and its entries in order.';
COMMENT ON COLUMN cluster.image_sets.kind IS 'What the set is for: benchmark (2 to 20 images) or instruction (2 to 5 images).';
COMMENT ON COLUMN cluster.image_sets.cluster_id IS 'Cluster that the set was drawn from.';
COMMENT ON COLUMN cluster.image_sets.position IS 'Place of the image in the set, from 1.';
COMMENT ON COLUMN cluster.image_sets.entry_id IS 'Entry that the image is of.';
COMMENT ON COLUMN cluster.image_sets.image_id IS 'SHA-256 of the image''s file.';

COMMENT ON COLUMN cluster.set_counts.kind IS 'What the sets are for: benchmark or instruction.';
COMMENT ON COLUMN cluster.set_counts.n_images IS 'Images in a set, 2 to 20.';
COMMENT ON COLUMN cluster.set_counts.wanted IS 'Sets of this size that were asked for.';
COMMENT ON COLUMN cluster.set_counts.made IS 'Sets of this size that were made.';
COMMENT ON COLUMN cluster.set_counts.reasons IS 'Missing sets by reason: reason to number of sets; the sum is wanted minus made.';

COMMENT ON COLUMN cluster.cohesion.cluster_id IS 'Cluster that is measured.';
COMMENT ON COLUMN cluster.cohesion.group_id IS 'Group that the cluster is part of.';
COMMENT ON COLUMN cluster.cohesion.title IS 'Title of the page at the cluster''s centre.';
COMMENT ON COLUMN cluster.cohesion.size IS 'Entries in the cluster.';
COMMENT ON COLUMN cluster.cohesion.mean_similarity IS 'Mean cosine of the captions to the centre, -1 to 1, without the centre itself.';
COMMENT ON COLUMN cluster.cohesion.min_similarity IS 'Lowest cosine of a caption to the centre, -1 to 1.';
COMMENT ON COLUMN cluster.cohesion.nearest_cluster IS 'Cluster whose centre is nearest; NULL if there is no other.';
COMMENT ON COLUMN cluster.cohesion.nearest_similarity IS 'Cosine of the two centres'' captions, -1 to 1.';

COMMENT ON COLUMN cluster.near_pairs.cluster_a IS 'One of the two clusters, that with the smaller id.';
COMMENT ON COLUMN cluster.near_pairs.cluster_b IS 'The other cluster.';
COMMENT ON COLUMN cluster.near_pairs.title_a IS 'Title of the page at the centre of cluster_a.';
COMMENT ON COLUMN cluster.near_pairs.title_b IS 'Title of the page at the centre of cluster_b.';
COMMENT ON COLUMN cluster.near_pairs.size_a IS 'Entries in cluster_a.';
COMMENT ON COLUMN cluster.near_pairs.size_b IS 'Entries in cluster_b.';
COMMENT ON COLUMN cluster.near_pairs.same_group IS 'Whether both clusters are in one group.';
COMMENT ON COLUMN cluster.near_pairs.similarity IS 'Cosine of the two centres'' captions, -1 to 1.';
COMMENT ON COLUMN cluster.near_pairs.union_similarity IS 'Lowest cosine of an entry of either cluster to the better of the two centres, -1 to 1.';
COMMENT ON COLUMN cluster.near_pairs.mergeable IS 'Whether the two would still be one cluster by the rule that they were found by.';

COMMENT ON COLUMN cluster.map.entry_id IS 'Entry of ingest.entries.';
COMMENT ON COLUMN cluster.map.place IS 'Place in the drawing order, from 1; entries in clusters come first.';
COMMENT ON COLUMN cluster.map.x IS 'Horizontal place on the map, without a unit.';
COMMENT ON COLUMN cluster.map.y IS 'Vertical place on the map, without a unit.';

COMMENT ON COLUMN cluster.pictures.path IS 'Path of the page inside the home.';
COMMENT ON COLUMN cluster.pictures.sha256 IS 'SHA-256 of the page''s file.';
COMMENT ON COLUMN cluster.pictures.n_points IS 'Entries on the map.';
COMMENT ON COLUMN cluster.pictures.n_thumbnails IS 'Entries that are shown with a small picture.';

COMMENT ON COLUMN cluster.sides.page_id IS 'Page of the image, as in ingest.pages.';
COMMENT ON COLUMN cluster.sides.image_id IS 'Image, as SHA-256 of its file.';
COMMENT ON COLUMN cluster.sides.side IS 'What it may be used for: benchmark or instruction; NULL if for neither.';
COMMENT ON COLUMN cluster.sides.reason IS 'Why it is there: drawn, joined, bridges_sides or in_imported_benchmark.';

COMMENT ON COLUMN cluster.entry_sides.entry_id IS 'Entry of ingest.entries.';
COMMENT ON COLUMN cluster.entry_sides.side IS 'What the entry may be used for: benchmark or instruction; NULL if for neither.';
COMMENT ON COLUMN cluster.entry_sides.reason IS 'Why it is there: drawn, joined, bridges_sides or in_imported_benchmark.';

COMMENT ON COLUMN cluster.picture_miniatures.image_id IS 'SHA-256 of the image''s file.';
COMMENT ON COLUMN cluster.picture_miniatures.version IS 'Version of the methods that it was made by.';
COMMENT ON COLUMN cluster.picture_miniatures.grey IS 'Grey levels of the picture inside its frame, stretched to a square of 32 pixels a side, row by row.';

COMMENT ON COLUMN cluster.picture_pairs.pair_id IS 'Hash of the two pictures'' ids and of the way in which they were compared.';
COMMENT ON COLUMN cluster.picture_pairs.version IS 'Version of the methods that they were compared by: those of an earlier one are compared anew.';
COMMENT ON COLUMN cluster.picture_pairs.first_id IS 'SHA-256 of one picture''s file, the smaller one.';
COMMENT ON COLUMN cluster.picture_pairs.second_id IS 'SHA-256 of the other picture''s file.';
COMMENT ON COLUMN cluster.picture_pairs.coarse IS 'Correlation of coarse brightness after one was moved onto the other, -1 to 1.';
COMMENT ON COLUMN cluster.picture_pairs.detail IS 'Correlation of fine detail, -1 to 1; 0 if miniatures ruled them out.';
COMMENT ON COLUMN cluster.picture_pairs.common IS 'Share of the square that both pictures show, 0 to 1.';
COMMENT ON COLUMN cluster.picture_pairs.blocks IS 'Number of blocks, of 64, that the correlation of detail rests on; 0 if miniatures ruled them out.';
COMMENT ON COLUMN cluster.picture_pairs.differing IS 'What differs in brightness or colour, as a share of what is not flat; 1 if the detail does not agree.';
COMMENT ON COLUMN cluster.picture_pairs.is_same IS 'Whether the two are copies of one picture.';
