"""Clustering: pairs within a cosine threshold, communities of them, MMDU's two passes."""
