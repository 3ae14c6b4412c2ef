"""StereoSet in other languages: translation, checks, and the folder of the result."""

from gest_dataset.studies.stereoset_translation.translate import translate_stereoset

__all__ = ["translate_stereoset"]
