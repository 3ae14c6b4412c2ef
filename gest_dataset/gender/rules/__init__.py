"""The rules for all languages: a table (rules.yaml), its anchors by module, and the engine."""
