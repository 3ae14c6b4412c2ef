"""A small model as a GGUF file: the zoo's Qwen 2, tensor by tensor under the names of llama.cpp."""

from __future__ import annotations

import json
from pathlib import Path

from tests.support import zoo

# transformers' name of a part -> that of GGUF
_PARTS = {
    "model.embed_tokens": "token_embd",
    "model.norm": "output_norm",
    "lm_head": "output",
    "model.layers": "blk",
    "input_layernorm": "attn_norm",
    "post_attention_layernorm": "ffn_norm",
    "self_attn.q_proj": "attn_q",
    "self_attn.k_proj": "attn_k",
    "self_attn.v_proj": "attn_v",
    "self_attn.o_proj": "attn_output",
    "mlp.gate_proj": "ffn_gate",
    "mlp.up_proj": "ffn_up",
    "mlp.down_proj": "ffn_down",
}


def write_gguf(folder: Path) -> None:
    """Write small.gguf."""
    import gguf

    model, tokenizer = zoo.load("qwen2")
    config = model.config
    writer = gguf.GGUFWriter(folder / "small.gguf", "qwen2")
    writer.add_context_length(zoo.LONGEST)
    writer.add_embedding_length(config.hidden_size)
    writer.add_block_count(config.num_hidden_layers)
    writer.add_feed_forward_length(config.intermediate_size)
    writer.add_head_count(config.num_attention_heads)
    writer.add_head_count_kv(config.num_key_value_heads)
    writer.add_layer_norm_rms_eps(config.rms_norm_eps)
    writer.add_rope_freq_base(10_000.0)
    state = json.loads(tokenizer.backend_tokenizer.to_str())["model"]
    pieces = sorted(state["vocab"], key=state["vocab"].get)
    writer.add_tokenizer_model("gpt2")
    writer.add_token_list(pieces)
    writer.add_token_types([gguf.TokenType.NORMAL] * len(pieces))
    writer.add_token_merges([" ".join(pair) for pair in state["merges"]])
    writer.add_eos_token_id(0)
    for name, tensor in model.state_dict().items():
        for part, short in _PARTS.items():
            name = name.replace(part, short)
        writer.add_tensor(name, tensor.float().numpy())
    writer.write_header_to_file()
    writer.write_kv_data_to_file()
    writer.write_tensors_to_file()
    writer.close()
