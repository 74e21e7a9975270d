"""Battles of which only is known who won: strengths, win rates."""
