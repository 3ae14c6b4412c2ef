"""placeholder"""

EXAMPLES = ""


def run() -> None:
    """x"""
