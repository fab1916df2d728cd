"""What of a scan runs on a device: patterns of sites, and how windows share them."""
