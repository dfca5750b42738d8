"""What the stages share: the table decorator, partitions, progress, asking models for rows."""
