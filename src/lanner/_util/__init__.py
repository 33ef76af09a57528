"""Small tools that every part of the house may use."""
