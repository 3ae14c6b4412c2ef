"""Adding data: from a user's files to configs that are kept, with a report of what was left out."""

from gest_dataset.custom.eurogest import Imported, import_eurogest
from gest_dataset.custom.language import Addition, add_language, remove_language

__all__ = ["Addition", "Imported", "add_language", "import_eurogest", "remove_language"]
