"""`gest ask`: send prompts to a chat model, read its answers, and record the run."""
