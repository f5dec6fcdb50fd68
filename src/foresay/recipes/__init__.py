"""Built-in recipes, one YAML each."""
