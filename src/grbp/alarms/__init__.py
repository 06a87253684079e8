"""Alarms that may be looked at after every move: whether one chance describes the cases."""
