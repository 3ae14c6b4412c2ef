"""Gender-stereotype data sets and exact metrics for language models and translators.

Importing the package registers the name `gest` with `datasets`:

    import gest_dataset
    from datasets import load_dataset
    load_dataset("gest", "sk_pairs")
"""

from gest_dataset import register
from gest_dataset.stereotypes import STEREOTYPES
from gest_dataset.version import __version__

__all__ = ["STEREOTYPES", "__version__"]

register.register()
