"""What vLLM 0.26.0 decides, simulated: pure Python and NumPy, typed, deterministic."""
