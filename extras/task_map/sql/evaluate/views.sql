-- Clusters of a task map: distances within them, and scores over their tasks.
CREATE OR REPLACE VIEW evaluate.task_clusters AS FROM evaluate.findings WHERE analysis = 'task_clusters';
