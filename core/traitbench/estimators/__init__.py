"""Estimators for scikit-learn that train and score without a service, with the numbers that a service gives."""

# Cards and explanations display themselves, as the client's answers do.
from traitbench.display import notebook as notebook
