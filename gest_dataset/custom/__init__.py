"""Add languages from a user's files, or from EuroGEST, as configs of `gest`."""

from gest_dataset.custom.eurogest import ImportedLanguage, import_eurogest
from gest_dataset.custom.language import AddedLanguage, add_language, remove_language

__all__ = ["AddedLanguage", "ImportedLanguage", "add_language", "import_eurogest", "remove_language"]
