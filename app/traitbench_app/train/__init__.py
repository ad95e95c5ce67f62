"""Parts of the Train page: options, cost, progress, the result, refits and automatic retraining."""
