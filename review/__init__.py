"""Human review of the queued items: the web app, its accounts, and import and export of files."""
