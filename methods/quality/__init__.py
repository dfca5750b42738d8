"""Quality of generated question-answer pairs: checks by rule and by a model, and their outcome."""
