"""The data: pinned upstream files (sources), configs as Parquet (build), the dataset card (card)."""
