"""The `sift` command: arguments, exit codes, printing. Speaks HTTP, and never reaches into the service.

`main` is the entry point. Everything else is imported inside it, so that the command starts fast, and so that
an interrupt while it starts is met as quietly as a later one.
"""


def main() -> None:
    """Runs the command line of this process and ends the process with the exit code it earned."""
    try:
        from sift.cli.run import run

        code = run()
    except KeyboardInterrupt:
        code = 130
    raise SystemExit(code)
