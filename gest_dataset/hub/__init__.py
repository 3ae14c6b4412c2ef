"""What goes to the Hub and comes from it: data sets, Spaces of metrics, results of models."""
