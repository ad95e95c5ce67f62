"""Parts of the Train page: the result, its mistakes, and the comparison of a draft before and after training."""
