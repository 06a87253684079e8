"""The live advisor over HTTP: every verb of a study, who may use it, and a client in Python."""
