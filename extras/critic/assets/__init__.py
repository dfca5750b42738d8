"""The asset `evaluate/critic_pairs`, and the files of its pairs."""
