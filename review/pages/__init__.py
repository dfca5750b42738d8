"""The pages of the review app, one module for what belongs together.

A page is a function of a request that answers from the review store, the accounts and the image
store alone: what it needs is on `request.app.state`. Templates are in `review/templates/`.
"""
