"""From a thread to the plain objects that the templates document: no markup, no requests."""
