"""The rows of the table, by what is replaced.

A row is `(part, why, names)`: the module of the agent, what its layers are for, and the names that it changes. `name = alias` names the same
function twice. A fourth element, `"traced"`, has the compiler see the layers (`Row.is_traced`).
"""
