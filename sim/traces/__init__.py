"""Readers of public request traces: a file in, requests out."""
