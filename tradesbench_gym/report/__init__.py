"""Many runs at once, what they came to, and tables of it beside the published figures."""
