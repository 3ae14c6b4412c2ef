"""The evaluate module `stereoset_icat`: LMS, SS and ICAT of StereoSet."""

from gest_dataset.metrics.base import StereosetIcat as StereosetIcat
