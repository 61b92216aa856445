"""The HTTP door: parse, authorize, call, serialize. One blueprint an endpoint family, one error table.

No business rule lives here.
"""

from sift.api.app import Services, create_app, note_refused

__all__ = ["Services", "create_app", "note_refused"]
