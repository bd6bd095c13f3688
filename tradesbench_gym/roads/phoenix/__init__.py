"""The model of Phoenix: `phoenix.toml` holds the facts, the modules turn them into a road map."""
