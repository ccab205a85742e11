"""`python -m netwright` is the `netwright` command."""

from netwright.apps.cli.start import main

if __name__ == "__main__":
    main()
