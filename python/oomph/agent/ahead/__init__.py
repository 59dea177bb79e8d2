"""What a program still had before it when it was stopped after some steps. See Note [Ahead] in `ahead.look`."""
