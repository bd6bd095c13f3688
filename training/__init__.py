"""Training and evaluation with Stable-Baselines3; imported as `tradesbench_gym.training`."""
