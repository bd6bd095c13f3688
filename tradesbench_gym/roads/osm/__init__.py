"""Builds road maps from OpenStreetMap extracts; nothing here is needed to open or use a map."""
