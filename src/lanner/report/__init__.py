"""What a search found, made visible: the learned ratio against any variable, plots, text, and a report to send.

`characterise` has the numbers, `plots` draws them, `text` puts them into words, and `page` makes one HTML file of all.
matplotlib, mplhep, hist and jinja2 are imported where they are used, so importing a module here costs little.
"""
