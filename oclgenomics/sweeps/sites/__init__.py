"""Sites before a scan: which are used, what of a chromosome does not count, and whose haplotypes are compared."""
