"""Files, configurations and flags that nobody would write, by the thousand: `make fuzz CASES=5000 SEED=1`.

`files` and `texts` make a case of a seed and a number, `oracles` read a file without Lanner, `check` judges one case in
a process of its own, and `__main__` runs many, counts what became of them, and keeps each one that fails as files that
show the failure again (`python -m tests.fuzz --replay FOLDER`).
"""
