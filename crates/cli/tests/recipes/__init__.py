"""Runs the recipes of docs/recipes.md."""
