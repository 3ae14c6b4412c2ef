"""Puts the dataset card, which stands at the top of the repository, into the wheel as well."""

from pathlib import Path

from setuptools import setup
from setuptools.command.build_py import build_py


class BuildWithCard(build_py):
    def run(self) -> None:
        super().run()
        if not self.editable_mode:
            self.copy_file("dataset_card.md", str(Path(self.build_lib, "gest_dataset")))


setup(cmdclass={"build_py": BuildWithCard})
