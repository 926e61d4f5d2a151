"""What the GPU does: torch and Triton, in a process of their own.

`job`, `presets`, `cases`, `bounds`, `recorded` and `worker` are plain Python and NumPy: the app
imports these. The others need torch (and Triton): only the process that `worker` starts, and
`python -m kernels.bench`, import them.
"""
