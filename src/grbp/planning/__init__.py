"""Say before a study how learning will go: how soon it is right, how surely, and at what cost."""
