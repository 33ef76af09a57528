"""Results as text, for the terminal, the notebook, the report and the documentation alike.

`words` has numbers, `verdict` the outcome in a sentence and what it means, `estimates` every p-value with what supports
it, `summary` the lines that `print` shows, `tables` the report's tables.
"""
