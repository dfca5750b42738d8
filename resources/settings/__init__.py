"""Settings: asset settings in `settings.yaml`, prompt files and installed extras."""
