"""The imports of a run, which the fork server of `killing` loads once."""

import torch.distributed  # noqa: F401
import transformers.models.bert.modeling_bert  # noqa: F401

import gest_dataset.models.score  # noqa: F401
