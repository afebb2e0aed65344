"""Attacks on a gateway of one's own, on loopback: `make attack`."""
