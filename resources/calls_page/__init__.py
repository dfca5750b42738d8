"""The page of model calls: requests, replies, costs and the rows that use them."""
