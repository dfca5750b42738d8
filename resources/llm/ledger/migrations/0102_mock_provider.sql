-- The provider of the mock model server is called mock. Requests keep the former name, as their hashes are the keys.
UPDATE calls SET provider = 'mock' WHERE provider = 'offline';
UPDATE charges SET provider = 'mock' WHERE provider = 'offline';
