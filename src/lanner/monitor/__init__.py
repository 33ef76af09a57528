"""Monitoring: a stream of batches against one reference, with alarms whose rate is known."""
