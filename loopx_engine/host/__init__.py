"""Where it runs: functions without state for paths, locks, files, redaction, the sanitiser and logs."""
