"""The commands of `tradesbench`, a module each. They talk to people; what they show is worked out below."""
