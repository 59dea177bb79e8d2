//! How little memory the recorded buffers could do with: a lower bound and a packing.
