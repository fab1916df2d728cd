"""K-mers in the formats of others."""
