"""The ways to load a model that `configured.py` compares with and without the files of weights."""

from dataclasses import dataclass

# The files of weights, their indexes included.
BARE = ("*.safetensors", "*.bin", "*.index.json", "*.gguf")
LLAMA = """
import torch, json
from transformers import LlamaConfig, LlamaForCausalLM
sizes = dict(hidden_size=512, intermediate_size=1536, num_hidden_layers=3, num_attention_heads=8, num_key_value_heads=2, vocab_size=8192)
model = LlamaForCausalLM(LlamaConfig(**sizes, torch_dtype="bfloat16")).to(torch.bfloat16)
"""
GGUF = """
import numpy, os, gguf
os.makedirs("model")
made = gguf.GGUFWriter("model/model.gguf", "llama")
made.add_context_length(512); made.add_embedding_length(512); made.add_block_count(2); made.add_feed_forward_length(2048)
made.add_head_count(8); made.add_head_count_kv(8); made.add_layer_norm_rms_eps(1e-5); made.add_vocab_size(8192); made.add_rope_dimension_count(64)
def add(name, *sizes):
    kind = gguf.GGMLQuantizationType.Q8_0 if len(sizes) == 2 else gguf.GGMLQuantizationType.F32
    made.add_tensor(name, gguf.quants.quantize(numpy.zeros(sizes, numpy.float32), kind), raw_dtype=kind)
add("token_embd.weight", 8192, 512); add("output_norm.weight", 512); add("output.weight", 8192, 512)
for number in range(2):
    for name in ("attn_q", "attn_k", "attn_v", "attn_output"):
        add(f"blk.{number}.{name}.weight", 512, 512)
    add(f"blk.{number}.ffn_gate.weight", 2048, 512); add(f"blk.{number}.ffn_up.weight", 2048, 512); add(f"blk.{number}.ffn_down.weight", 512, 2048)
    add(f"blk.{number}.attn_norm.weight", 512); add(f"blk.{number}.ffn_norm.weight", 512)
made.write_header_to_file(); made.write_kv_data_to_file(); made.write_tensors_to_file(); made.close()
"""
# Runs in the place of the removal of files.
HOLLOW = """
import os
from oomph.agent.scenery.weights.gguf_files import write_hollow_gguf
os.rename("model/model.gguf", "real.gguf")
file = open("real.gguf", "rb")
def read(offset, count):
    file.seek(offset)
    return file.read(min(count, 1000))
print(write_hollow_gguf("model/model.gguf", os.path.getsize("real.gguf"), read))
"""
SAVE = 'model.save_pretrained("model")\n'
LOAD = "import torch\nfrom transformers import AutoModelForCausalLM\n"
SD = """
import torch
from diffusers import AutoencoderKL, DDIMScheduler, StableDiffusionPipeline, UNet2DConditionModel
from transformers import CLIPTextConfig, CLIPTextModel, CLIPTokenizer
unet = UNet2DConditionModel(block_out_channels=(64, 128), layers_per_block=1, sample_size=32, cross_attention_dim=256,
    down_block_types=("DownBlock2D", "CrossAttnDownBlock2D"), up_block_types=("CrossAttnUpBlock2D", "UpBlock2D"))
"""
PIPELINE = """
vae = AutoencoderKL(block_out_channels=[64, 128], down_block_types=["DownEncoderBlock2D"] * 2, up_block_types=["UpDecoderBlock2D"] * 2,
    latent_channels=4)
text = CLIPTextModel(CLIPTextConfig(hidden_size=256, intermediate_size=1024, num_attention_heads=4, num_hidden_layers=3, vocab_size=5000))
pipeline = StableDiffusionPipeline(vae=vae, text_encoder=text, tokenizer=None, unet=unet, scheduler=DDIMScheduler(), safety_checker=None,
    feature_extractor=None, requires_safety_checker=False)
"""
LAYERS = "[name for name, layer in model.named_modules() if isinstance(layer, torch.nn.Linear) and 'lm_head' not in name]"
FP8 = f"""
from safetensors.torch import save_file
state, linears = dict(model.state_dict()), {LAYERS}
for name in linears:
    weight = state[name + ".weight"]
    state[name + ".weight"] = weight.to(torch.float8_e4m3fn)
    state[name + ".weight_scale_inv"] = torch.ones(-(-weight.shape[0] // 128), -(-weight.shape[1] // 128))
model.config.quantization_config = dict(quant_method="fp8", weight_block_size=[128, 128], activation_scheme="dynamic")
model.config.save_pretrained("model")
save_file(state, "model/model.safetensors", dict(format="pt"))
"""
PACKED = f"""
from safetensors.torch import save_file
state, linears = dict(model.state_dict()), {LAYERS}
for name in linears:
    rows, columns = state.pop(name + ".weight").shape
    state[name + ".weight_packed"] = torch.zeros(rows, columns // 8, dtype=torch.int32)
    state[name + ".weight_scale"] = torch.ones(rows, columns // 128, dtype=torch.bfloat16)
    state[name + ".weight_shape"] = torch.tensor([rows, columns])
scheme = dict(num_bits=4, type="int", symmetric=True, strategy="group", group_size=128)
groups = dict(group_0=dict(targets=["Linear"], weights=scheme))
model.config.quantization_config = dict(quant_method="compressed-tensors", format="pack-quantized", config_groups=groups,
    ignore=["lm_head"], quantization_status="compressed")
model.config.save_pretrained("model")
save_file(state, "model/model.safetensors", dict(format="pt"))
"""
QUANTIZED = """
from transformers import AutoModelForCausalLM, BitsAndBytesConfig
model.save_pretrained("plain")
settings = BitsAndBytesConfig(%s)
AutoModelForCausalLM.from_pretrained("plain", quantization_config=settings, device_map="cpu").save_pretrained("model")
"""
ADAPTER = """
from peft import LoraConfig, get_peft_model
model.save_pretrained("base")
for path in ("base",):
    model = LlamaForCausalLM.from_pretrained(path)
get_peft_model(model, LoraConfig(r=64, target_modules="all-linear", task_type="CAUSAL_LM")).save_pretrained("model")
"""
MIXTRAL = """
import torch
from transformers import MixtralConfig, MixtralForCausalLM
model = MixtralForCausalLM(MixtralConfig(hidden_size=256, intermediate_size=512, num_hidden_layers=2, num_attention_heads=4,
    num_key_value_heads=2, vocab_size=4096, num_local_experts=8)).to(torch.bfloat16)
"""
SENTENCES = """
from sentence_transformers import SentenceTransformer, models
from transformers import BertConfig, BertModel, BertTokenizer
BertModel(BertConfig(hidden_size=256, num_hidden_layers=2, num_attention_heads=4, intermediate_size=1024, vocab_size=8000)).save_pretrained("bert")
open("vocab.txt", "w").write("\\n".join(["[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]", "a", "b"]))
BertTokenizer("vocab.txt").save_pretrained("bert")
words = models.Transformer("bert")
model = SentenceTransformer(modules=[words, models.Pooling(256), models.Dense(256, 2048)], device="cpu")
model.save("model")
"""
CACHE = """
import pathlib, shutil
root = pathlib.Path("hub/models--some--body")
(root / "refs").mkdir(parents=True)
(root / "refs" / "main").write_text("0" * 40)
model.save_pretrained(root / "snapshots" / ("0" * 40))
"""


@dataclass(frozen=True)
class Way:
    """A way to load: code that saves a model on the CPU, and code that loads it from `model` on the GPU."""

    name: str
    save: str
    load: str
    # The folder or folders that lose their files of weights, and the patterns of the files.
    bare: str = "model"
    lost: tuple[str, ...] = BARE
    # Code that makes the hollow files, in the place of the removal.
    hollow: str = ""


def _causal(name: str, save: str, options: str, kind: str = "AutoModelForCausalLM", after: str = "", **rest) -> Way:
    names = ", ".join({kind, *(word for word in ("AutoConfig", "BitsAndBytesConfig") if word in options)})
    return Way(name, save, f'import torch\nfrom transformers import {names}\nmodel = {kind}.from_pretrained("model"{options}){after}\n', **rest)


CUDA = ', device_map="cuda"'
WAYS = [
    _causal("device_map=cuda", LLAMA + SAVE, CUDA),
    _causal("device_map=auto", LLAMA + SAVE, ', device_map="auto"'),
    _causal("dtype=float32, moved", LLAMA + SAVE, ", torch_dtype=torch.float32", after=".to('cuda')"),
    _causal("low_cpu_mem_usage, moved", LLAMA + SAVE, ", low_cpu_mem_usage=True, torch_dtype=torch.float16", after=".cuda()"),
    _causal("shards", LLAMA + 'model.save_pretrained("model", max_shard_size="4MB")\n', CUDA),
    _causal(
        "pytorch_model.bin",
        LLAMA + SAVE + 'torch.save(model.state_dict(), "model/pytorch_model.bin")\n',
        CUDA + ", use_safetensors=False",
    ),
    _causal("a base model of a language model", LLAMA + SAVE, CUDA, "AutoModel"),
    _causal("a classifier of a language model", LLAMA + SAVE, CUDA, "AutoModelForSequenceClassification"),
    _causal("config=", LLAMA + SAVE, CUDA + ', config=AutoConfig.from_pretrained("model")', "LlamaForCausalLM"),
    _causal(
        "subfolder and variant",
        LLAMA + 'model.half().save_pretrained("model/part", variant="fp16")\n',
        CUDA + ', subfolder="part", variant="fp16"',
        bare="model/part",
    ),
    _causal(
        "tied embeddings",
        "from transformers import GPT2Config, GPT2LMHeadModel\n"
        + "model = GPT2LMHeadModel(GPT2Config(n_embd=512, n_layer=2, n_head=8, vocab_size=20000))\n"
        + SAVE,
        CUDA,
    ),
    _causal("mixture of experts", MIXTRAL + SAVE, CUDA),
    _causal("quantized while loading", LLAMA + SAVE, CUDA + ", quantization_config=BitsAndBytesConfig(load_in_4bit=True)"),
    _causal("bitsandbytes, 4 bits", LLAMA + QUANTIZED % "load_in_4bit=True, bnb_4bit_quant_type='nf4'", CUDA),
    _causal("bitsandbytes, nested", LLAMA + QUANTIZED % "load_in_4bit=True, bnb_4bit_use_double_quant=True", CUDA),
    _causal("bitsandbytes, 8 bits", LLAMA + QUANTIZED % "load_in_8bit=True", CUDA),
    _causal("gguf", GGUF, ', gguf_file="model.gguf"', after='.to("cuda")', hollow=HOLLOW),
    _causal("fp8", LLAMA + FP8, CUDA),
    _causal("compressed-tensors", LLAMA + PACKED, CUDA),
    _causal(
        "half a download",
        LLAMA + 'model.save_pretrained("model", max_shard_size="4MB")\n',
        CUDA,
        lost=("model-00002-*", "model-00003-*"),
    ),
    Way(
        "a name in the cache",
        LLAMA + CACHE,
        LOAD + 'model = AutoModelForCausalLM.from_pretrained("some/body", device_map="cuda")\n',
        bare="hub/models--some--body/snapshots/" + "0" * 40,
    ),
    Way("peft adapter", LLAMA + ADAPTER, LOAD + "from peft import PeftModel\n"
        'model = PeftModel.from_pretrained(AutoModelForCausalLM.from_pretrained("base", device_map="cuda"), "model")\n'),
    Way("an adapter and its base", LLAMA + ADAPTER, LOAD + 'from peft import AutoPeftModelForCausalLM\n'
        'model = AutoPeftModelForCausalLM.from_pretrained("model", device_map="cuda")\n', bare="model base"),
    _causal("an adapter, by transformers", LLAMA + ADAPTER, CUDA),
    Way("sentence-transformers", SENTENCES, "import torch\nfrom sentence_transformers import SentenceTransformer\n"
        'model = SentenceTransformer("model", device="cuda")\n', bare="model model/2_Dense"),
    Way("diffusers model", SD + 'unet.save_pretrained("model")\n', SD.split("unet")[0]
        + 'model = UNet2DConditionModel.from_pretrained("model", torch_dtype=torch.float16).to("cuda")\n'),
    Way("diffusers subfolder and variant", SD + 'unet.half().save_pretrained("model/unet", variant="fp16")\n', SD.split("unet")[0]
        + 'model = UNet2DConditionModel.from_pretrained("model", subfolder="unet", variant="fp16").to("cuda")\n', bare="model/unet"),
    Way("diffusers device_map", SD + 'unet.save_pretrained("model")\n', SD.split("unet")[0]
        + 'model = UNet2DConditionModel.from_pretrained("model", device_map="cuda")\n'),
    Way("diffusers pipeline", SD + PIPELINE + 'pipeline.save_pretrained("model")\n', SD.split("unet")[0]
        + 'model = StableDiffusionPipeline.from_pretrained("model", tokenizer=None, feature_extractor=None, safety_checker=None, torch_dtype=torch.float16).to("cuda")\n',
        bare="model/unet model/vae model/text_encoder"),
    Way("diffusers pipeline, variant", SD + PIPELINE + 'pipeline.to(torch.float16).save_pretrained("model", variant="fp16")\n',
        SD.split("unet")[0] + 'from diffusers import DiffusionPipeline\n'
        'model = DiffusionPipeline.from_pretrained("model", tokenizer=None, feature_extractor=None, safety_checker=None, variant="fp16", torch_dtype=torch.float16).to("cuda")\n',
        bare="model/unet model/vae model/text_encoder"),
]  # fmt: skip
