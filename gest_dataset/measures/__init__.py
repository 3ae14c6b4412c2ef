"""What is measured: from the scores of a probe to a statistic and its words."""
