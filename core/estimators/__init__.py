"""Estimators for scikit-learn that train and score without a service, with the numbers that a service gives."""
