"""The imports of a run, which the fork server of `killing` loads once."""

import torch.distributed
import transformers.models.bert.modeling_bert

import gest_dataset.models.score
