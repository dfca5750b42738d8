"""Who belongs with whom: neighbours within a threshold, communities of them, MMDU's two passes."""
