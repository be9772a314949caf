"""Joins through real web servers and proxies."""
