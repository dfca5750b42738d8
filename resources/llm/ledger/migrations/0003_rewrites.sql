-- A call's stage is the table that it was asked for, and rewrite.prompts is rewrite.rewrites now.
UPDATE calls SET stage = 'rewrite.rewrites' WHERE stage = 'rewrite.prompts';
UPDATE charges SET stage = 'rewrite.rewrites' WHERE stage = 'rewrite.prompts';
UPDATE batch_items SET stage = 'rewrite.rewrites' WHERE stage = 'rewrite.prompts';
