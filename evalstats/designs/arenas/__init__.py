"""Battles, which only record who won: strengths, win rates."""
