"""The pages of accounts: signing in and out, keys, projects and their members."""
