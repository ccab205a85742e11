"""Tests of the views and of the page that shows them."""
