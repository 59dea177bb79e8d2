"""The host, as a phantom GPU needs it: its memory and its checkpoint files."""
