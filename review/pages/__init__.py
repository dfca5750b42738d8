"""The pages of the review app.

A page is a function of a request. It reads the review store, the accounts and the image store, which it
finds on `request.app.state`, and nothing else. Templates are in `review/templates/`.
"""
