"""What the operator installs beside the package: units, alert rules, a dashboard; and the talk with systemd.

What the service does is not known here.
"""
