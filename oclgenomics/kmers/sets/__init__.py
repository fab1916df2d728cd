"""Union, intersection and difference of sets of k-mers."""
