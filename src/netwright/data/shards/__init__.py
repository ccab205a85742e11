"""Shards of samples: tar files in the webdataset layout, and parquet files, here or elsewhere."""
