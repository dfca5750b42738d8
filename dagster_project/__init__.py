"""What Dagster loads: definitions, jobs, schedules, sensors, checks and the resources behind them."""
