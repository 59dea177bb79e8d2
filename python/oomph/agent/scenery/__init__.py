"""The scenery: what a program expects around it and a dry run does not have.

Weights, tokenizers and data sets that are not on this machine, and services on the network that must not hear of the run. The parts of
the agent observe; the modules here stand in.
"""
