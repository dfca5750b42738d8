"""The page of model calls: what was asked, what came, what it cost, and what became of it."""
