"""`python -m ragstone`."""

from ragstone.cli import main

if __name__ == "__main__":
    main()
