"""Something to look at: the proxy at work before a real broker."""
