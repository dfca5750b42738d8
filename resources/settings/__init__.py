"""Settings: those of assets in `settings.yaml`, prompt files, installed extras."""
