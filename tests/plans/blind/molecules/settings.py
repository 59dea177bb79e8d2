"""The settings of the training."""

MOLECULES = 192
ATOMS = 48
CHANNELS = 96
ROUNDS = 3
LEARNING_RATE = 5e-4
STEPS = 6
