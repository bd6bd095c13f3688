"""Environment wrappers; imported as `tradesbench_gym.wrappers`."""
