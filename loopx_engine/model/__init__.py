"""What things are: one module a noun, frozen records, states as data. No I/O, no clock, nothing but values."""
