"""Your own table: CSV, TSV, parquet and frames, inferred, encoded and ready to train on."""
