"""What the papers did around their scores, each study repeatable on any models."""
