"""The ground floor: errors, checks, configs, catalogs, seeds, devices, printing and storage."""
