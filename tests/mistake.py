"""A training loop that keeps a graph, for the suites that show one finding of lint in many ways."""

MISTAKE = """\
import torch


def train(model, loader, optimizer, criterion):
    total = 0.0
    for x, y in loader:
        optimizer.zero_grad()
        loss = criterion(model(x), y)
        loss.backward()
        optimizer.step()
        total += loss
    return total
"""
# The finding: its rule, and its line and columns, counted from 1.
RULE = "accumulated-graph"
LINE, COLUMN, END = 11, 9, 22
CLEAN = MISTAKE.replace("total += loss", "total += loss.item()")
# With the fix of lint.
MENDED = MISTAKE.replace("total += loss", "total += loss.detach()")
# Also a fix that may change results.
BOTH = MISTAKE.replace("loss.backward()", "loss.backward(retain_graph=True)")
