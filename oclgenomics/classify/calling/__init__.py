"""From candidates to taxa: hits that are needed, lowest common ancestors, coverage and abundances."""
