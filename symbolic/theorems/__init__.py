"""The theorems, one file a topic; each is one decorated function. Listing, tests, docs and command line follow from these."""
