"""The part of the page that is explored: all samples, runs side by side, profiles, a board of many runs.

packed     what the page's script gets: columns, compressed           samples    the samples of all runs
beside     runs of the same config, with paired intervals             profiles   16 stereotypes by run
board      the runs by their headlines
"""
