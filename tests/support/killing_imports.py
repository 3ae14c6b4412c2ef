"""What a run imports: the fork server of tests/killing.py loads it once."""

import accelerate  # noqa: F401
import torch.distributed  # noqa: F401
import transformers.models.bert.modeling_bert
import transformers.models.bert.tokenization_bert  # noqa: F401
