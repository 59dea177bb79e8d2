"""Names that programs use for a batch size, the length of a sequence, or the size of an image."""

import re

# Words for data other than training data.
EVALUATION = {
    *("eval", "evaluate", "evaluation", "val", "valid", "validate", "validation", "test", "testing", "dev"),
    *("infer", "inference", "predict", "gen", "sample"),
}
# Words in names about batches other than their size.
_NOT_SIZES = {"num", "n", "nb", "steps", "accumulation", "norm", "first", "index", "idx", "sampler", "batches"}
# Words for the sum of several batches, on many devices or accumulated.
_WHOLE = {"total", "global", "effective", "max", "min"}
_BATCH_ENDS = {"batch", "batchsize", "bs", "bsz", "mbs"}
_PER_DEVICE = {"imgs_per_gpu", "images_per_gpu", "samples_per_gpu", "imgs_per_batch", "ims_per_batch"}
_PARTS = {"micro", "device", "gpu", "local", "mbs", "minibatch"}
_LENGTHS = {
    *("seq_len", "seqlen", "seq_length", "sequence_length", "sequence_len", "max_seq_len", "max_seq_length", "max_seqlen", "maxlen"),
    *("max_sequence_length", "max_length", "max_len", "block_size", "context_length", "context_len", "context_size", "ctx_len", "n_ctx"),
    *("max_source_length", "max_input_length", "max_tokens_per_sample", "bptt"),
}
_LESS_LENGTHS = {"model_max_length", "max_target_length"}
_IMAGES = {
    *("img_size", "image_size", "imgsz", "imsize", "img_sz", "im_size", "imagesize", "resolution", "image_resolution", "img_resolution"),
    *("crop_size", "train_crop_size", "train_size_px", "img_dim", "image_dim"),
}
_LESS_IMAGES = {"res", "resize", "resize_size", "train_resolution"}


def plain(name: str) -> str:
    """The common form of a name's spellings: `--batch-size`, `BATCH_SIZE` and `batchSize` are `batch_size`."""
    name = re.sub(r"(?<=[a-z0-9])(?=[A-Z])", "_", name.lstrip("-"))
    return name.replace("-", "_").lower().strip("_")


def words(name: str) -> set[str]:
    """The words of a name."""
    return set(plain(name).split("_"))


def batch(name: str) -> int | None:
    """Ranks a name by its likelihood to be the training batch size, 0 first; `None` for other names."""
    name = plain(name)
    parts = name.split("_")
    if EVALUATION & set(parts):
        return None
    if name in _PER_DEVICE or (_is_batch(parts) and _PARTS & set(parts)):
        return 0
    if not _is_batch(parts):
        return None
    return 3 if _WHOLE & set(parts) else 1 if "train" in parts else 2


def _is_batch(parts: list[str]) -> bool:
    """True if the name ends like a size, or with the unit of a batch."""
    if _NOT_SIZES & set(parts):
        return False
    ends = parts[-1] in _BATCH_ENDS or (parts[-1] == "size" and any(part.endswith("batch") for part in parts))
    return ends or ("per" in parts and "size" in parts and "batch" in parts) or parts[:1] in (["bs"], ["bsz"])


def length(name: str) -> int | None:
    """The same of the length of a sequence."""
    return _among(plain(name), _LENGTHS, _LESS_LENGTHS)


def image(name: str) -> int | None:
    """The same of the size of an image."""
    return _among(plain(name), _IMAGES, _LESS_IMAGES)


def _among(name: str, likely: set[str], less: set[str]) -> int | None:
    name = name.removeprefix("train_") if name not in likely else name
    return 0 if name in likely else 1 if name in less else None
