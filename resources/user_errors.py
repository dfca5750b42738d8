"""One sentence for an error of the machine: a full disk, a missing package, a database that is away."""

from resources.files.system_errors import exhaustion_message, refusal_message
from resources.settings.packages import package_missing
from resources.stores.address import server_error


def user_error(error: BaseException) -> BaseException:
    """Return the UserError that explains an error of the machine; any other error unchanged."""
    return (
        exhaustion_message(error)
        or package_missing(error)
        or server_error(error)
        or refusal_message(error)
        or error
    )
