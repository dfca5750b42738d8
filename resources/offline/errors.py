"""Errors that end a request, in the form of the OpenAI protocol.

What belongs here: the exceptions and their JSON bodies. Part of the offline stand-in; no model is
called.
"""

from __future__ import annotations


class ApiError(Exception):
    """A request that ends with an HTTP error."""

    def __init__(
        self,
        status: int,
        message: str,
        kind: str,
        code: str | None = None,
        param: str | None = None,
    ) -> None:
        super().__init__(message)
        self.status = status
        self.kind = kind
        self.code = code
        self.param = param

    def body(self) -> dict[str, object]:
        """Return the error in the form OpenAI's API gives it."""
        error = {
            "message": str(self),
            "type": self.kind,
            "param": self.param,
            "code": self.code,
        }
        return {"error": error}


class BadRequest(ApiError):
    """The request itself is wrong."""

    def __init__(self, message: str, code: str | None = None, param: str | None = None) -> None:
        super().__init__(400, message, "invalid_request_error", code, param)


class NotFound(ApiError):
    """What the request names is not kept here."""

    def __init__(self, message: str, param: str | None = None) -> None:
        super().__init__(404, message, "invalid_request_error", param=param)


class UnknownModel(ApiError):
    """The named model is not served here."""

    def __init__(self, model: str) -> None:
        super().__init__(
            404,
            f"The model `{model}` does not exist on this offline server.",
            "invalid_request_error",
            "model_not_found",
        )
