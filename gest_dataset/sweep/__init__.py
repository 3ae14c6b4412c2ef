"""Sweeps: a grid of models and configs, on the devices of this machine or on a cluster (docs/sweep.md).

suite, keys   a YAML file and all that is wrong with it        grid         models x configs
looking       kinds and sizes of models, before anything       prepare      all of these, with one error
work          what a worker does                               drive        giving out, and out again
local         one process a device                             cluster      tasks on Ray
apart         processes beside the one that watches
place, state  where it is kept, and what is known of it        facts        what is kept of a run
board, steps  all of it in a table; checkpoints in a figure    check        beside the printed numbers
plan, device  what it will take, before it begins
"""
