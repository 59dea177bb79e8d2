"""Values on the device: the known ones and what follows from them, and assumed answers to reads of all others."""
