"""The evaluate module `stereoset_icat`: LMS, SS and ICAT of StereoSet."""

from gest_dataset.metrics.modules import StereosetIcat as StereosetIcat
