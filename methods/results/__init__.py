"""Results for papers: tables with intervals, in LaTeX and Markdown, and how they were made, in words.

What belongs here: rows of scores to texts. Reading the rows and writing files is
`resources/publishing/result_files.py`.
"""
