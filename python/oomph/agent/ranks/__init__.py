"""The ranks of a job: exchanges between them, and stand-ins for ranks that do not run."""
