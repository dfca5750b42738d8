"""Reports: self-contained pages, plots for the UI, and release folders."""
