"""Full screens and modal ones."""
