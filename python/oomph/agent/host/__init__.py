"""The machine around the device, as a phantom GPU needs it: host memory, checkpoint files, and services on the network."""
