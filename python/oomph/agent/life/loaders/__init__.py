"""The loaders whose batches a loop may jump over."""

opened: list = []
