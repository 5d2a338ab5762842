"""The runners of a campaign's cases: processes of this machine, Dask, Slurm."""
