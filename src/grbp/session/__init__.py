"""Let a learner meet one real case after another, by ask and tell, and go on after a break."""

from grbp.session.ask_tell import Session

__all__ = ["Session"]
