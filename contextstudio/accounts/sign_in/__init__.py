"""Ways to sign in: one-time links and passwords, and what stops guessing."""
