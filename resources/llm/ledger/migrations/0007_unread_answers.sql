-- Answers that their asker could not read are found at once.
CREATE INDEX calls_unread ON calls (stage) WHERE outcome = 'unread';
