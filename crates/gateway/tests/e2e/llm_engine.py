"""llama.cpp's own server with a model of random weights, which is made here: it says words of its list, at random. Prints where it listens, and
serves until its input ends. Argument: the file for the model."""

import sys

import numpy
import xllamacpp
from gguf import GGUFWriter, TokenType

WIDTH, HEADS, INNER, CONTEXT = 32, 2, 64, 65536
SPECIAL = [("<unk>", TokenType.UNKNOWN), ("<s>", TokenType.CONTROL), ("</s>", TokenType.CONTROL)]
BYTES = [(f"<0x{byte:02X}>", TokenType.BYTE) for byte in range(256)]
WORDS = [(f"\u2581{word}", TokenType.NORMAL) for word in "one two three four five six seven eight nine ten".split()]
VOCABULARY = SPECIAL + BYTES + WORDS
# As short as those of real models are in tokens: without merges, each byte is one here.
TEMPLATE = "{% for message in messages %}{{ message['content'] }}\n{% endfor %}"


def write_model(path):
    writer = GGUFWriter(path, "llama")
    writer.add_context_length(CONTEXT)
    writer.add_embedding_length(WIDTH)
    writer.add_block_count(1)
    writer.add_feed_forward_length(INNER)
    writer.add_head_count(HEADS)
    writer.add_layer_norm_rms_eps(1e-5)
    writer.add_rope_dimension_count(WIDTH // HEADS)
    writer.add_vocab_size(len(VOCABULARY))
    writer.add_tokenizer_model("llama")
    writer.add_token_list([text for text, _ in VOCABULARY])
    writer.add_token_scores([0.0] * len(VOCABULARY))
    writer.add_token_types([kind for _, kind in VOCABULARY])
    writer.add_bos_token_id(1)
    writer.add_eos_token_id(2)
    writer.add_chat_template(TEMPLATE)
    random = numpy.random.default_rng(1)

    def add(name, *shape):
        writer.add_tensor(f"{name}.weight", random.standard_normal(shape, dtype=numpy.float32))

    add("token_embd", len(VOCABULARY), WIDTH)
    # Nothing but words has a chance, unless a schema wants it: the model never ends by itself.
    output = 8 * random.standard_normal((len(VOCABULARY), WIDTH), dtype=numpy.float32)
    output[: -len(WORDS)] = 0
    writer.add_tensor("output.weight", output)
    for name in ("output_norm", "blk.0.attn_norm", "blk.0.ffn_norm"):
        writer.add_tensor(f"{name}.weight", numpy.ones(WIDTH, dtype=numpy.float32))
    for name in ("attn_q", "attn_k", "attn_v", "attn_output"):
        add(f"blk.0.{name}", WIDTH, WIDTH)
    add("blk.0.ffn_gate", INNER, WIDTH)
    add("blk.0.ffn_up", INNER, WIDTH)
    add("blk.0.ffn_down", WIDTH, INNER)
    writer.write_header_to_file()
    writer.write_kv_data_to_file()
    writer.write_tensors_to_file()
    writer.close()


write_model(sys.argv[1])
params = xllamacpp.CommonParams()
params.model.path = sys.argv[1]
params.n_ctx = CONTEXT
params.n_parallel = 1
params.cpuparams.n_threads = 1
params.endpoint_slots = True
server = xllamacpp.Server(params)
print(server.listening_address, flush=True)
sys.stdin.read()
