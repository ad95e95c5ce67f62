"""Training, scoring, checking and labelling without a service, and the script that labels texts by keys."""
