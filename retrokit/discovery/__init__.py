"""From an unknown game to an integration: find its start, record, poke, judge, prove."""
