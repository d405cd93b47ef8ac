"""How providers' requests hold messages, whatever the provider."""
