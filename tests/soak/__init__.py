"""A soak: eight callers, batches and interactive fetches mixed with hostile pages, and kill -9 of server and workers.

`python -m tests.soak [--seconds 60] [--calm]` from the project's root; it ends with a report, and with exit status 1
where a finished result was lost, a job stuck, or memory, threads or descriptors grew.
"""
