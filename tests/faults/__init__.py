"""Kills, full disks, file systems without locks, swapped files: nothing goes wrong without a word."""
