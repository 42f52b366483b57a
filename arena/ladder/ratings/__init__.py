"""What results say: ratings and their errors, sequential tests, luck."""
