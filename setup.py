"""Package the folders at the top of the repository, and copy the dataset card into the wheel."""

from pathlib import Path

from setuptools import find_namespace_packages, find_packages, setup
from setuptools.command.build_py import build_py

# published to the Hub, so they stand at the top; installed as gest_dataset.builders and gest_dataset.metrics
TOP = ("builders", "metrics")


class BuildWithCard(build_py):
    """Copies the dataset card, which stands at the top of the repository, into the wheel."""

    def run(self) -> None:
        super().run()
        if not self.editable_mode:
            self.copy_file("dataset_card.md", str(Path(self.build_lib, "gest_dataset")))


packages = find_packages(include=["gest_dataset", "gest_dataset.*"])
for top in TOP:
    subfolders = find_namespace_packages(top, exclude=["*__pycache__*"])
    packages += [f"gest_dataset.{top}", *(f"gest_dataset.{top}.{name}" for name in subfolders)]
setup(cmdclass={"build_py": BuildWithCard}, packages=packages)
