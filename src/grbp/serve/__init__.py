"""The live advisor over HTTP: every verb of a study, and who may use it."""
