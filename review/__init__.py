"""How people review what the pipeline queued, and nothing of what their decisions come to."""
