"""Package the folders at the top of the repository."""

from setuptools import find_namespace_packages, find_packages, setup

# published to the Hub, so they stand at the top; installed as gest_dataset.builders and gest_dataset.metrics
TOP = ("builders", "metrics")

packages = find_packages(include=["gest_dataset", "gest_dataset.*"])
for top in TOP:
    subfolders = find_namespace_packages(top, exclude=["*__pycache__*"])
    packages += [f"gest_dataset.{top}", *(f"gest_dataset.{top}.{name}" for name in subfolders)]
setup(packages=packages)
