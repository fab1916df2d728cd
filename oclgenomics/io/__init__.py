"""Bytes in and out: inputs of any kind as streams of bytes, and files that are whole or absent."""
