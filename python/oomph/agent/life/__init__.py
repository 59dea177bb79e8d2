"""The whole life of a program in a dry run: its loops are shortened, and the program runs to its own end."""
