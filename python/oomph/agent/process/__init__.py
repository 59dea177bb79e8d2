"""The Python process: its variables, imports and stacks, the fork server, the end, and failures of the agent itself."""
