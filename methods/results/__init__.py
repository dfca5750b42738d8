"""Results for papers: tables with intervals in LaTeX and Markdown, and how they were made."""
