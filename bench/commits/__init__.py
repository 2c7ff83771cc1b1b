"""What a translated member's commits cost, in a row and one at a time."""
