-- The provider of the mock model server is called mock. Cards of releases stay: they are in files, too.
UPDATE choice.items SET provider = 'mock' WHERE provider = 'offline';
UPDATE choice.translations SET provider = 'mock' WHERE provider = 'offline';
UPDATE choice.mmiu_items SET provider = 'mock' WHERE provider = 'offline';
UPDATE dialogue.summaries SET provider = 'mock' WHERE provider = 'offline';
UPDATE dialogue.questions SET provider = 'mock' WHERE provider = 'offline';
UPDATE dialogue.answers SET provider = 'mock' WHERE provider = 'offline';
UPDATE dialogue.instructions SET provider = 'mock' WHERE provider = 'offline';
UPDATE dialogue.three_turns SET provider = 'mock' WHERE provider = 'offline';
UPDATE dialogue.turn_references SET provider = 'mock' WHERE provider = 'offline';
UPDATE evaluate.answers SET provider = 'mock' WHERE provider = 'offline';
UPDATE evaluate.judgments SET provider = 'mock' WHERE provider = 'offline';
UPDATE evaluate.probe_judgments SET provider = 'mock' WHERE provider = 'offline';
UPDATE evaluate.pairs SET provider = 'mock' WHERE provider = 'offline';
UPDATE ledger.calls SET provider = 'mock' WHERE provider = 'offline';
UPDATE quality.asked SET provider = 'mock' WHERE provider = 'offline';
UPDATE rewrite.rewrites SET provider = 'mock' WHERE provider = 'offline';
UPDATE rewrite.seeds SET provider = 'mock' WHERE provider = 'offline';
UPDATE rewrite.seed_rewrites SET provider = 'mock' WHERE provider = 'offline';
UPDATE rewrite.contexts SET provider = 'mock' WHERE provider = 'offline';
-- A score names all providers: 'offline + openai'.
UPDATE evaluate.scores
SET provider = array_to_string(list_transform(string_split(provider, ' + '), x -> if(x = 'offline', 'mock', x)), ' + ')
WHERE contains(provider, 'offline');
