//! The table, compared with a list of processes.
