"""What `gest demo` runs on: sentences written for this project, and a tiny model."""
