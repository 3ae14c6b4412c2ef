"""Measurements of what chat models answer: prompts, answers, their readings, and the run around them."""
