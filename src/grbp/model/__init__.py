"""The paper's problem: what is given, one transition, and other tools' languages."""
