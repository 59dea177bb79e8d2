"""What is replaced in other libraries, so that what is not there is stood in for, over a phantom GPU.

A name that has several functions, such as `create_*`, is there so that a new function of its kind does not reach the outside either.
"""

_WORDS_OF_HUB = (
    "accept", "add", "batch", "cancel", "change", "comment", "copy", "create", "delete", "disable", "duplicate", "edit", "enable", "grant",
    "hide", "merge", "move", "pause", "permanently", "preupload", "reject", "rename", "request", "rerun", "restart", "resume", "run_job",
    "run_uv", "scale", "set", "super", "suspend", "sync", "trigger", "unlike", "update", "upload",
)  # fmt: skip
_WORDS_OF_AZURE = (
    "upload", "delete", "undelete", "set", "create", "start_copy", "abort", "stage", "commit", "append", "clear", "resize", "seal",
)  # fmt: skip
# The functions of the module are methods of one object, which were bound before the class was changed.
HUB_CHANGES = tuple(f"huggingface_hub.hf_api:{kind}{word}*" for kind in ("HfApi.", "") for word in _WORDS_OF_HUB)
# Modules that send by themselves, after reading the repository, which is missing here.
HUB_PUSHES = (
    "transformers.utils.hub:PushToHubMixin.push_to_hub", "datasets.arrow_dataset:Dataset.push_to_hub",
    "datasets.dataset_dict:DatasetDict.push_to_hub", "datasets.dataset_dict:IterableDatasetDict.push_to_hub",
    "datasets.iterable_dataset:IterableDataset.push_to_hub",
)  # fmt: skip
GOOGLE_UPLOADS = ("upload_from_file", "upload_from_filename", "upload_from_string", "_prep_and_do_upload")
GOOGLE_CHANGES = ("delete", "patch", "update", "make_public", "make_private", "compose", "update_storage_class", "create")
GOOGLE_COPIES = ("copy_blob", "rename_blob", "move_blob", "restore_blob")
_GOOGLE = "google.cloud.storage"
AZURE = tuple(
    f"azure.storage.blob{package}:{kind}.{word}*"
    for package in ("", ".aio")
    for kind in ("BlobClient", "ContainerClient", "BlobServiceClient")
    for word in _WORDS_OF_AZURE
)
# Those of the Hub are in `weights.hub`.
FETCHES = (
    "urllib.request:urlretrieve", "torch.hub:download_url_to_file", "torch.hub:load_state_dict_from_url", "torch.hub:_get_cache_or_reload",
    "nltk.downloader:Downloader.download", "open_clip.pretrained:download_pretrained_from_url", "datasets.utils.file_utils:get_from_cache",
)  # fmt: skip
OLDER_SENTENCE_MODULES = tuple(
    f"sentence_transformers.models:{kind}.load" for kind in ("Dense", "CNN", "LSTM", "LayerNorm", "WeightedLayerPooling")
)
ENCODERS = tuple(
    f"transformers.{kind}.{function}"
    for kind in ("tokenization_utils_tokenizers:TokenizersBackend", "tokenization_utils_fast:PreTrainedTokenizerFast")
    for function in ("set_truncation_and_padding", "_encode_plus", "_batch_encode_plus")
)
# The sets of torchvision that have files of their own; classes below them call the same `__init__`.
PICTURE_SETS = (
    "MNIST", "CIFAR10", "SVHN", "STL10", "USPS", "ImageNet", "ImageFolder", "Food101", "Flowers102", "FGVCAircraft", "DTD", "OxfordIIITPet",
    "Places365", "CelebA", "CocoDetection", "voc._VOCBase",
)  # fmt: skip


def picture_set(name: str) -> str:
    """The name of the `__init__` of a set of torchvision."""
    module, _, kind = name.rpartition(".")
    return f"torchvision.datasets{module and '.'}{module}:{kind}.__init__"


_SERVICES = (
    (
        "scenery.outside.wandb_runs", "disables runs, and answers for sweeps",
        (
            "wandb:init = wandb.sdk:init = wandb.sdk.wandb_init:init", "wandb:login", "wandb:sweep", "wandb:agent", "wandb:Artifact.wait",
            *(f"wandb.sdk.lib.noop_run:NoopRun.{name}" for name in ("log", "use_artifact", "log_artifact", "log_model", "save", "alert")),
        ),
    ),
    (
        "scenery.outside.mlflow_runs", "puts a local temporary store in place of a server",
        (
            "mlflow:set_tracking_uri = mlflow.tracking:set_tracking_uri = mlflow.tracking._tracking_service.utils:set_tracking_uri",
            "mlflow:set_registry_uri = mlflow.tracking:set_registry_uri = mlflow.tracking._model_registry.utils:set_registry_uri",
            "mlflow:MlflowClient.__init__", "mlflow:MlflowClient.create_run", "mlflow:start_run", "mlflow:login",
        ),
    ),
    (
        "scenery.outside.trackers", "disables runs, or removes them at the end",
        (
            "comet_ml:init", "comet_ml:login", "comet_ml:init_onprem", "comet_ml:Experiment.__init__", "comet_ml:OfflineExperiment.__init__",
            "comet_ml:start", "neptune:Run.__init__", "neptune:Model.__init__", "neptune:ModelVersion.__init__", "neptune:Project.__init__",
            "clearml:Task.set_offline", "clearml:Task.init",
        ),
    ),
    (
        "scenery.outside.hub", "changes no repository of the Hugging Face Hub",
        (*HUB_CHANGES, *HUB_PUSHES, "huggingface_hub.repocard:RepoCard.validate", "transformers.safetensors_conversion:spawn_conversion"),
    ),
    (
        "scenery.outside.mail", "takes mail, and delivers none",
        ("smtplib:SMTP._get_socket", "smtplib:SMTP_SSL._get_socket", "smtplib:LMTP.connect", "smtplib:SMTP.starttls"),
    ),
    (
        "scenery.outside.clouds", "writes and removes nothing in stores",
        (
            "botocore.client:BaseClient._make_request", "aiobotocore.client:AioBaseClient._make_request", "boto3.s3.transfer:_should_use_crt",
            *(f"{_GOOGLE}:Blob.{name}" for name in (*GOOGLE_UPLOADS, "create_resumable_upload_session", "rewrite", *GOOGLE_CHANGES)),
            *(f"{_GOOGLE}:Bucket.{name}" for name in (*GOOGLE_CHANGES, "delete_blob", "delete_blobs", *GOOGLE_COPIES)),
            f"{_GOOGLE}:Client.create_bucket", f"{_GOOGLE}.fileio:BlobWriter._upload_chunks_from_buffer", *AZURE,
        ),
    ),
    (
        "scenery.outside.chats", "sends no messages to people",
        (
            "slack_sdk.web.base_client:BaseClient.api_call", "slack_sdk.web.base_client:BaseClient._upload_file",
            "slack_sdk.web.async_base_client:AsyncBaseClient.api_call", "slack_sdk.web.async_base_client:AsyncBaseClient._upload_file",
            "slack_sdk.webhook.client:WebhookClient.send", "slack_sdk.webhook.client:WebhookClient.send_dict",
            "slack_sdk.webhook.async_client:AsyncWebhookClient.send", "slack_sdk.webhook.async_client:AsyncWebhookClient.send_dict",
            "apprise:Apprise.notify", "apprise:Apprise.async_notify", "telegram:Bot._do_post",
        ),
    ),
    (
        "scenery.fetches", "notes the downloaded and the unpacked files, which a run may keep",
        (
            *FETCHES, "zipfile:ZipFile.extract", "zipfile:ZipFile.extractall", "tarfile:TarFile.extract", "tarfile:TarFile.extractall",
            "datasets.utils.extract:ExtractManager.extract",
        ),
    ),
)  # fmt: skip
_WEIGHTS = (
    (
        "scenery.weights.hub", "fetches headers in place of weights",
        (
            *(f"huggingface_hub.file_download:{name}" for name in ("hf_hub_download", "try_to_load_from_cache", "_download_to_tmp_and_move")),
            "huggingface_hub._snapshot_download:snapshot_download", "huggingface_hub._snapshot_download:hf_hub_download",
        ),
    ),
    (
        "scenery.weights.network", "closes the Hub after the first refused connection",
        ("huggingface_hub.utils._http:_http_backoff_base", "huggingface_hub.utils._http:UniqueRequestIdAdapter.send"),
    ),
    ("scenery.weights.network", "closes the Hub in a run without a network", ("huggingface_hub.constants:HF_HUB_OFFLINE",), "value"),
    (
        "scenery.weights.addresses", "fetches the header of a checkpoint of an address",
        (
            "torch.hub:download_url_to_file", "torch.hub:load_state_dict_from_url = torch.utils.model_zoo:load_url",
            "torch.serialization:load = torch:load",
        ),
    ),
    ("scenery.weights.model_states", "loads a state without known names", ("torch.nn.modules.module:Module.load_state_dict",)),
    (
        "scenery.weights.open_clip_models", "stands in for absent checkpoints",
        (
            "open_clip.pretrained:download_pretrained_from_url", "open_clip.factory:download_pretrained",
            "open_clip.factory:download_pretrained_from_hf", "open_clip.factory:load_checkpoint",
        ),
    ),
    (
        "scenery.weights.timm_models", "stands in for absent checkpoints",
        ("timm.models._builder:load_pretrained", "timm.models._helpers:load_state_dict", "timm.models._hub:download_cached_file"),
    ),
    ("scenery.weights.torchvision_models", "loads weights of unknown names", ("torchvision.models.densenet:_load_state_dict",)),
    (
        "scenery.weights.transformers_models", "stands in for absent checkpoints",
        ("transformers.modeling_utils:_get_resolved_checkpoint_files", "transformers.modeling_utils:log_state_dict_report"),
    ),
    (
        "scenery.weights.older_transformers", "stands in for absent checkpoints, before 4.50",
        (
            "transformers.modeling_utils:PreTrainedModel.from_pretrained", "transformers.modeling_utils:get_checkpoint_shard_files",
            "transformers.modeling_utils:load_state_dict",
        ),
    ),
    (
        "scenery.weights.diffusers_models", "stands in for absent checkpoints",
        (
            "diffusers.models.modeling_utils:_get_model_file", "diffusers.models.modeling_utils:_get_checkpoint_shard_files",
            "diffusers.pipelines.pipeline_utils:_identify_model_variants",
        ),
    ),
    ("scenery.weights.adapters", "stands in for the absent weights of adapters", ("peft.utils.save_and_load:load_peft_weights",)),
    (
        "scenery.weights.gguf_files", "keeps the holes of a file holes in memory",
        (
            "transformers.integrations.gguf.reader:LazyGgufTensor.__getitem__", "transformers.integrations.gguf.kernels:dequantize",
            "gguf:dequantize",
        ),
    ),
    ("scenery.weights.gguf_files", "copies no holes", ("transformers.modeling_gguf_pytorch_utils:np",), "value"),
    (
        "scenery.weights.sentence_models", "stands in for absent checkpoints",
        (
            "sentence_transformers.base.modules.module:Module.load_torch_weights",
            "sentence_transformers.models.Module:Module.load_torch_weights",
        ),
    ),
    ("scenery.weights.older_sentence_models", "stands in for absent checkpoints, before 5", OLDER_SENTENCE_MODULES),
)  # fmt: skip
_TEXTS = (
    (
        "scenery.texts.tokenizers_made", "makes tokenizers without a vocabulary",
        (
            "transformers.tokenization_utils_base:PreTrainedTokenizerBase.from_pretrained",
            "transformers.tokenization_utils_base:PreTrainedTokenizerBase._from_pretrained",
            "transformers.models.auto.tokenization_auto:AutoTokenizer.from_pretrained",
        ),
    ),
    ("scenery.texts.lengths", "notes whether a guessed length mattered", ENCODERS),
    (
        "scenery.texts.processors", "describes absent processors by the model's configuration",
        (
            "transformers.image_processing_base:ImageProcessingMixin.get_image_processor_dict",
            "transformers.feature_extraction_utils:FeatureExtractionMixin.get_feature_extractor_dict",
            "transformers.video_processing_utils:BaseVideoProcessor.get_video_processor_dict",
        ),
    ),
)  # fmt: skip
_DATA = (
    ("scenery.data.pictures", "makes up absent sets, or names them in the error", tuple(map(picture_set, PICTURE_SETS))),
    (
        "scenery.data.builders", "makes up absent sets, and asks a Hub out of reach once",
        ("datasets.load:load_dataset_builder = datasets:load_dataset_builder",),
    ),
    ("scenery.data.builders", "restricts the library to its cache while it looks for a set", ("datasets.config:HF_HUB_OFFLINE",), "lent"),
)  # fmt: skip
_TRAINER = "transformers.trainer:Trainer"
_HANDLER = "transformers.trainer_callback:CallbackHandler"
_OF_LIGHTNING = ("fit_loop:_FitLoop.run", "training_epoch_loop:_TrainingEpochLoop.on_run_start",
                 "training_epoch_loop:_TrainingEpochLoop.on_advance_end", "evaluation_loop:_EvaluationLoop.run",
                 "evaluation_loop:_EvaluationLoop._evaluation_step")  # fmt: skip
_LOOPS = (
    (
        "life.frameworks.lightning", "jumps over batches that repeat",
        tuple(f"{package}.loops.{name}" for package in ("lightning.pytorch", "pytorch_lightning") for name in _OF_LIGHTNING),
    ),
    (
        "life.frameworks.trainer", "jumps over steps that repeat",
        (f"{_TRAINER}.train", f"{_HANDLER}.on_epoch_begin", f"{_TRAINER}._maybe_log_save_evaluate"),
    ),
    (
        "life.frameworks.trainer_evaluation", "jumps over batches that repeat",
        (f"{_TRAINER}.evaluation_loop", f"{_TRAINER}.prediction_loop", f"{_HANDLER}.on_prediction_step"),
    ),
)  # fmt: skip
ROWS = (*_SERVICES, *_WEIGHTS, *_TEXTS, *_DATA, *_LOOPS)
