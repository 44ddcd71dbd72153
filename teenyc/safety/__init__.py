"""Proofs of bounds: a checked program goes in; what is proven of its accesses, for all sizes, comes out."""

from __future__ import annotations
