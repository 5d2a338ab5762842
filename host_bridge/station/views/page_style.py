"""The colours of the station's page, for the frames that the plots' program shows inside it."""

from __future__ import annotations

from nicegui import ui

from host_bridge.station.views.charts import NIGHT, Theme

# NiceGUI has Quasar's !important in layers, where the first layer wins: so these are in the first
_STYLE = """<style>
body { color: %(ink)s; font-variant-numeric: tabular-nums;
  font-family: ui-sans-serif, -apple-system, "Segoe UI", Roboto, "Noto Sans", "Liberation Sans",
    Arial, sans-serif; }
.nicegui-content { gap: 8px; padding: 8px 12px; }
.q-btn { font-weight: 700; border-radius: 8px; padding: 2px 10px; border: 2px solid %(line)s; }
.q-btn::before { box-shadow: none; border: 0; }
.q-slider__track { background: %(line)s; }
:is(.q-btn, a, .logs-list):focus-visible, .q-slider:focus-within {
  outline: 3px solid %(ink)s; outline-offset: 2px; }
@layer theme {
  body { background: %(panel)s !important; }
  .q-btn { color: %(ink)s !important; }
  .q-btn:is(.is-on, [aria-pressed="true"]) {
    background: %(ink)s !important; color: %(panel)s !important; }
  .q-field__native, .q-field__label, .q-field__marginal { color: %(dim)s !important; }
  .q-slider__thumb { color: %(ink)s !important; }
  .q-slider__selection { background: %(ink)s !important; }
}
</style>"""


def dress(theme: Theme) -> None:
    """Give this page the colours, type and buttons of the station's page around it."""
    ui.dark_mode(theme is NIGHT)
    ui.colors(primary=theme.raised, dark_page=theme.panel)
    ui.add_head_html(_STYLE % theme._asdict())
