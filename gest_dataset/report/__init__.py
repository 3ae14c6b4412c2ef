"""Reports: from runs on disk to one page that a person can read."""
