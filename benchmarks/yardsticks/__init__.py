"""What the engine is compared with: the same learners and the same work, done in other ways."""
