"""What may change: one module a noun, each command a frozen value with a pure `decide(draft, context) -> answer`."""
