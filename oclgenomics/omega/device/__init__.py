"""The scan on a device: what is enqueued, and what comes back."""
