"""What the GPU does: torch and Triton, in a process of their own.

`job`, `presets`, `bounds`, `recorded` and `worker` are plain Python and NumPy: the app imports
these. `reference`, `cache_write`, `decode`, `inputs`, `timing` and `parity` need torch (and
Triton): only the process that `worker` starts imports these.
"""
