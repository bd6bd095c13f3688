"""`python -m tradesbench_gym`: the same as `tradesbench`."""

from tradesbench_gym.cli import main

if __name__ == "__main__":
    main()
