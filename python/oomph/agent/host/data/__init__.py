def wait(): pass
