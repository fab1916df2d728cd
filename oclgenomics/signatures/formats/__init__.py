"""Reports as text, written part by part."""
